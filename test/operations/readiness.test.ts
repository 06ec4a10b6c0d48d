import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { insertBackupRun } from '#server/backups/archive/backups-store.ts';
import { lockClockState } from '#server/database/clock-store.ts';
import type { ReadinessDetails } from '#server/operations/health-routes.ts';
import { createProbeTicket } from '#server/operations/probe-route.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { makeReadOnly } from '#test/support/database/lost-connections.ts';
import { takeTableAway } from '#test/support/database/table-faults.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { httpRequest } from '#test/support/http/http-request.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const metricsToken = 'a-token-for-tests';

describe('GET /readyz, and the probe of ownline doctor (specification section 10.4)', () => {
  const service = givenService({ METRICS_TOKEN: metricsToken });

  const authorization = `Bearer ${metricsToken}`;
  const read = async () => {
    service.clock.advance(1_001);
    const answer = await fetch(`${service.baseUrl}/readyz?verbose`, { headers: { authorization } });
    return { status: answer.status, details: (await answer.json()) as ReadinessDetails };
  };
  const jobNamed = ({ jobs }: ReadinessDetails, name: string) => jobs.find((job) => job.name === name);
  const figure = async (name: string, job: string) => {
    const answer = await fetch(`${service.baseUrl}/metrics`, { headers: { authorization } });
    const line = (await answer.text()).split('\n').find((text) => text.startsWith(`${name}{name="${job}"} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };

  it('/readyz?verbose needs METRICS_TOKEN, and /readyz shows none of its details', async () => {
    for (const header of ['', 'Bearer wrong']) {
      const refused = await fetch(`${service.baseUrl}/readyz?verbose`, {
        headers: { authorization: header },
      });
      assert.equal(refused.status, 401);
      assert.doesNotMatch(await refused.text(), /jobs/);
    }
    const plain = await fetch(`${service.baseUrl}/readyz`);
    assert.deepEqual(Object.keys((await plain.json()) as object), [
      'status',
      'clock',
      'restore_hold',
      'outage_hold',
    ]);
  });

  it('/readyz?verbose shows the nightly backup that ended last', async () => {
    assert.equal((await read()).details.backup, null);
    const times = { started_at: service.clock.in(-60_000), finished_at: service.clock.now() };
    const runs = [
      { ...times, file: 'a.backup', bytes: 1_000, error: null, unproved: 'It was not loaded.' },
      {
        ...times,
        finished_at: service.clock.in(1),
        file: null,
        bytes: null,
        error: 'Its disk is full.',
        unproved: null,
      },
    ];
    for (const run of runs) {
      await service.runtime.database.transaction((trx) => insertBackupRun(trx, run));
      assert.deepEqual((await read()).details.backup, {
        started_at: run.started_at.toISOString(),
        finished_at: run.finished_at.toISOString(),
        succeeded: run.error === null,
        bytes: run.bytes,
        error: run.error,
        unproved: run.unproved,
      });
    }
  });

  it('/readyz?verbose lists every loop of the process once, under the names of /metrics', async () => {
    const { details } = await until('all jobs have run', async () => {
      const answer = await read();
      return answer.details.jobs.every(({ last_success_at: at }) => at !== null) && answer;
    });
    assert.partialDeepStrictEqual(details, {
      status: 'ok',
      mail: 'off',
      restore_hold: null,
      outage_hold: null,
    });
    assert.ok((details.disk?.free_bytes ?? 0) > 0);
    const names = details.jobs.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of [
      'notifications',
      'follow the database clock',
      'publish events',
      'make deliveries',
      'fetch media',
      'run simulated phones',
      'expire queued messages',
    ])
      assert.ok(names.includes(name), name);
    assert.deepEqual(new Set(details.jobs.map(({ state }) => state)), new Set(['ok']));
    for (const name of names) {
      assert.equal(await figure('ownline_job_late', name), 0, name);
      assert.equal(await figure('ownline_job_failures_total', name), 0, name);
      const at = (await figure('ownline_job_last_success_timestamp_seconds', name)) ?? 0;
      assert.ok(Math.abs(at - Date.now() / 1_000) < 600, `${name} at ${at}`);
    }
  });

  it('/readyz?verbose shows a failing job with its error, and /metrics counts the failures', async () => {
    const table = await takeTableAway(service, 'unpublished_events');
    try {
      const failing = await until('the publisher fails', async () => {
        const job = jobNamed((await read()).details, 'publish events');
        return job?.state === 'failing' && job;
      });
      assert.match(failing.last_error ?? '', /relation "unpublished_events" does not exist/);
      assert.ok(failing.failures >= 1);
      assert.ok(((await figure('ownline_job_failures_total', 'publish events')) ?? 0) >= 1);
    } finally {
      await table.restore();
    }
    await until('it succeeds again', async () => {
      const job = jobNamed((await read()).details, 'publish events');
      return job?.state === 'ok' && job.last_error === null && job.failures >= 1;
    });
  });

  it('/readyz queries the database once a second, whatever the number of requests', async (t) => {
    // A check of readiness runs two statements; this is the name of the first.
    const watch = watchStatements(['database.readiness-memory']);
    const askMany = async () => {
      const begunMs = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => fetch(`${service.baseUrl}/readyz`)),
      );
      assert.ok(answers.every(({ status }) => status === 200));
      // At most one check runs per second, and on a slow machine the requests take several seconds.
      return { looks: watch.take().length, most: 1 + Math.floor((performance.now() - begunMs) / 1_000) };
    };
    t.after(() => watch.stop());
    for (let second = 0; second < 3; second += 1) {
      service.clock.advance(1_000);
      const { looks, most } = await askMany();
      assert.ok(looks >= 1 && looks <= most, `${looks} looks`);
    }
  });

  it('while the database is read-only, /readyz and writes get 503 with the reason, and /readyz is 200 afterwards', async (t) => {
    const team = await service.newTeam();
    const ready = new ApiClient(service.baseUrl, '');
    const database = await makeReadOnly(service);
    let isRestored = false;
    t.after(() => (isRestored ? undefined : database.restore()));
    const readOnly = /^The database in DATABASE_URL is read-only .*primary.*default_transaction_read_only/;
    const refused = await until('it is not ready', async () => {
      service.clock.advance(1_000);
      const answer = await ready.get('/readyz');
      // The switch to read-only ends connections, so the first requests fail with another error.
      return answer.status === 503 && readOnly.test(String(field(answer.json, 'error.message'))) && answer;
    });
    assert.equal(refused.headers.get('retry-after'), '2');
    assert.equal(
      (await ready.get('/readyz?balancer')).status,
      200,
      'the check for balancers needs no database',
    );
    const { status, details } = await read();
    assert.deepEqual([status, details.status], [503, 'unavailable']);
    assert.match(details.message ?? '', readOnly);
    assert.ok(details.jobs.length > 10);
    const write = await until('a write is refused', async () => {
      const answer = await team.api.put('/v1/team', { name: 'Another name' });
      return readOnly.test(String(field(answer.json, 'error.message'))) && answer;
    });
    assert.deepEqual([write.status, write.headers.get('retry-after')], [503, '2']);
    await database.restore();
    isRestored = true;
    await until('it is ready again', async () => {
      service.clock.advance(1_000);
      return (await ready.get('/readyz')).status === 200;
    });
  });

  it('/readyz answers even while a transaction has locked the row of the clock', async (t) => {
    const other = await service.startAnother();
    t.after(() => other.close());
    await service.runtime.database.transaction(async (trx) => {
      await lockClockState(trx);
      service.clock.advance(1_000);
      for (const baseUrl of [service.baseUrl, other.baseUrl]) {
        assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200);
      }
    });
  });

  it('/readyz?balancer is 503 while the process stops, which serves on for STOP_DELAY_SECONDS', async () => {
    const team = await service.newTeam();
    const other = await service.startAnother(undefined, { STOP_DELAY_SECONDS: '10' });
    const there = new ApiClient(other.baseUrl, '');
    const { status, json } = await there.get('/readyz?balancer');
    assert.deepEqual([status, json], [200, { status: 'ok' }]);
    const closed = other.close().then(() => true);
    const refused = await there.get('/readyz?balancer');
    assert.deepEqual([refused.status, field(refused.json, 'error.code')], [503, 'internal_error']);
    assert.equal((await new ApiClient(other.baseUrl, team.api.key).get('/v1/numbers')).status, 200);
    await until('the delay begins and ends', () => {
      service.clock.advance(10_000);
      return Promise.race([closed, false]);
    });
    await assert.rejects(fetch(`${other.baseUrl}/healthz`));
  });

  it('a process without the role api answers 503 to all but /healthz, /readyz and /metrics', async (t) => {
    const other = await service.startAnother(undefined, { ROLES: 'deliver,maintain' });
    t.after(() => other.close());
    const answers = async (method: string, path: string) => {
      const { status, headers, text } = await httpRequest(`${other.baseUrl}${path}`, { method });
      return [status, headers.get('retry-after'), /This process has no role api/.test(text)];
    };
    for (const path of ['/healthz', '/readyz']) assert.equal((await answers('GET', path))[0], 200, path);
    assert.equal((await answers('GET', '/metrics'))[0], 401);
    for (const [method, path] of [
      ['GET', '/readyz?balancer'],
      ['GET', '/v1/numbers'],
      ['POST', '/v1/messages/send'],
      ['POST', '/v1/device/poll'],
      ['GET', '/'],
      ['GET', '/nowhere'],
    ] as const)
      assert.deepEqual(await answers(method, path), [503, '2', true], path);
  });

  const call = (ticket: string, query = '', body = 'bytes') =>
    fetch(`${service.baseUrl}/v1/device/probe/${ticket}${query}`, { method: 'POST', body });
  const ticket = () => createProbeTicket(service.runtime.secrets, service.clock.nowMs());

  it('the probe answers 404 before reading a body unless the request has a ticket that this SECRETS_KEY made within five minutes', async () => {
    const good = ticket();
    assert.equal((await call(good)).status, 200);
    const [expiry = '', mac = ''] = good.split('.');
    const later = (Number.parseInt(expiry, 36) + 60_000).toString(36);
    const other = createProbeTicket(new Secrets(randomBytes(32)), service.clock.nowMs());
    for (const wrong of [other, `${later}.${mac}`, `${expiry}.${'A'.repeat(43)}`, expiry, `${good}x`, 'x'])
      assert.equal((await call(wrong)).status, 404, wrong);
    const tooLarge = await call(other, '', 'x'.repeat(9 * 1_024 * 1_024)).catch(() => undefined);
    assert.ok(tooLarge === undefined || tooLarge.status === 404, 'refused for the ticket, not for the size');
    service.clock.advance(299_000);
    assert.equal((await call(good)).status, 200);
    service.clock.advance(2_000);
    assert.equal((await call(good)).status, 404);
  });

  it('the probe delays its answer by the requested hold_ms, and a stop of the service ends the delay', async () => {
    const other = await service.startAnother();
    const held = fetch(`${other.baseUrl}/v1/device/probe/${ticket()}?hold_ms=50000`, {
      method: 'POST',
      body: '{}',
    });
    await fetch(`${other.baseUrl}/healthz`);
    const startedMs = performance.now();
    await other.close();
    assert.equal((await held).status, 200);
    assert.ok(performance.now() - startedMs < 15_000);
  });
});
