import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadinessDetails } from '#server/app/readiness-details.ts';
import { insertBackupRun } from '#server/database/backup/backups-store.ts';
import { makeReadOnly } from '#test/support/database/lost-connections.ts';
import { takeTableAway } from '#test/support/database/table-faults.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const metricsToken = 'a-token-for-tests';

describe('GET /readyz?verbose (specification section 10.4)', () => {
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
    assert.deepEqual(Object.keys((await plain.json()) as object), ['status', 'clock', 'restore_hold']);
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
    assert.equal(details.status, 'ok');
    assert.deepEqual([details.mail, details.restore_hold], ['off', null]);
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

  it('/readyz?verbose is 503 with the reason and all details while the process is not ready', async () => {
    const database = await makeReadOnly(service);
    try {
      const { details } = await until('it is not ready', async () => {
        const answer = await read();
        return answer.status === 503 && /read-only/.test(answer.details.message ?? '') && answer;
      });
      assert.equal(details.status, 'unavailable');
      assert.ok(details.jobs.length > 10);
    } finally {
      await database.restore();
    }
  });
});
