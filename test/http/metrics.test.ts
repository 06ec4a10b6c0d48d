import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schemaVersion } from '#server/database/apply-schema.ts';
import { tryPublisherLock } from '#server/events/feed-store.ts';
import { isMailFailing, MailHealth } from '#server/mail/mail-health.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { metricsIn, readAlerts, readBoard } from '#test/alerts/read-alerts.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';

const metricsToken = 'a-token-for-tests';

describe('GET /metrics (specification section 10.4)', () => {
  const service = givenService({ DEVICE_HOLD_SECONDS: '25', METRICS_TOKEN: metricsToken });
  const team = given(() => service.newTeam({ plan: 'free', monthlyLimit: 3 }));
  const number = given(() => connectNumber(service, team, '+14155550100'));

  const scrape = (authorization: string) =>
    fetch(`${service.baseUrl}/metrics`, { headers: { authorization } });
  const read = async () => {
    const response = await scrape(`Bearer ${metricsToken}`);
    return { type: response.headers.get('content-type') ?? '', text: await response.text() };
  };
  const figure = async (name: string) => {
    const { text } = await read();
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  };
  const assertFigures = async (expected: Readonly<Record<string, number | undefined>>) => {
    for (const [name, value] of Object.entries(expected)) assert.equal(await figure(name), value, name);
  };
  const untilAllPublished = () =>
    until('all events are published', async () => {
      service.clock.advance(5_001);
      return (await figure('ownline_unpublished_events')) === 0;
    });
  const send = (key?: string) =>
    team.api.request('POST', '/v1/messages/send', {
      body: { from: number.phoneNumber, to: '+14155550101', content: 'counted words' },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });

  it('/metrics counts sends by outcome and refusals by code, and sums the sizes of batches', async () => {
    await send('once');
    await send('once');
    await send();
    await send();
    await send();
    await team.api.post('/v1/messages/send', { from: '+14155550199', to: '+14155550101', content: 'x' });
    await team.api.post('/v1/messages/send', {});
    const sends = 'method="POST",route="/v1/messages/send"';
    await assertFigures({
      'ownline_sends_total{verdict="accepted"}': 3,
      'ownline_sends_total{verdict="replayed"}': 1,
      'ownline_sends_total{verdict="over_limit"}': 1,
      'ownline_sends_total{verdict="from_unregistered"}': 1,
      'ownline_refusals_total{route="/v1/messages/send",code="plan_limit_exceeded"}': 1,
      'ownline_refusals_total{route="/v1/messages/send",code="invalid_request"}': 2,
      // The first send of a month is counted twice: its statement runs again after the usage row was created.
      'ownline_batch_size_sum{batch="sends"}': 7,
      'ownline_batch_again_rows_total{batch="sends"}': 1,
      [`ownline_http_requests_total{${sends},status="202"}`]: 4,
      [`ownline_http_request_duration_seconds_bucket{le="+Inf",${sends}}`]: 7,
    });
  });

  it('/metrics shows how many messages are queued and how old the oldest is, the messages in flight, and the held polls', async () => {
    service.clock.advance(6_000);
    assert.equal(await figure('ownline_queue_depth'), 3);
    const age = await figure('ownline_queue_oldest_seconds');
    assert.ok(age !== undefined && age > 5, String(age));
    assert.equal((await number.wire.poll()).action, 'send');
    // The query of the queue is cached for five seconds.
    service.clock.advance(5_001);
    await assertFigures({ ownline_queue_depth: 2, ownline_in_flight: 1 });
    const leaving = new AbortController();
    const held = number.wire.poll({}, leaving.signal);
    held.catch(() => undefined);
    await until('the poll is held', async () => (await figure('ownline_polls_held')) === 1);
    leaving.abort();
    await until('it has left', async () => (await figure('ownline_polls_held')) === 0);
  });

  it('/metrics counts outcomes of messages by error_code, once their transaction has committed', async () => {
    const outcomes = async (outcome: string, code = '') =>
      figure(`ownline_message_outcomes_total{outcome="${outcome}",error_code="${code}"}`);
    assert.equal(await outcomes('failed', 'not_delivered'), 0, 'a code that has not occurred is 0');
    const waiting = await team.api.get('/v1/messages?status=queued');
    const [queued] = waiting.json.messages as { id: string }[];
    assert.equal((await team.api.post(`/v1/messages/${queued?.id}/cancel`, {})).status, 200);
    await number.wire.call('inbound', { from: '+14155550101', text: 'Hi' });
    assert.equal(await outcomes('failed', 'cancelled'), 1);
    assert.equal(await outcomes('received'), 1);
    assert.equal(await outcomes('sent'), 0);
    const calls: string[] = [];
    const rolledBack = service.runtime.database.transaction(async (trx) => {
      trx.afterCommit(() => calls.push('rolled back'));
      throw new Error('of the test');
    });
    await assert.rejects(rolledBack, /of the test/);
    await service.runtime.database.transaction(async (trx) => trx.afterCommit(() => calls.push('committed')));
    assert.deepEqual(calls, ['committed']);
  });

  it('/metrics shows how many events are not yet in the feed, and for how long', async () => {
    await untilAllPublished();
    await service.runtime.database.transaction(async (trx) => {
      await until('this is the only publisher', () => tryPublisherLock(trx));
      await number.wire.call('inbound', { from: '+14155550101', text: 'Hi again' });
      service.clock.advance(60_000);
      await until('it is counted', async () => (await figure('ownline_unpublished_events')) === 1);
      const age = (await figure('ownline_unpublished_events_oldest_seconds')) ?? 0;
      assert.ok(age >= 60 && age < 120, String(age));
    });
    await untilAllPublished();
    assert.equal(await figure('ownline_unpublished_events_oldest_seconds'), 0);
  });

  it('/metrics shows the release, the size of the database and the free space of DATA_DIR', async () => {
    const { text } = await read();
    assert.ok(text.includes(`ownline_build_info{version="${productVersion}",schema="${schemaVersion}"} 1\n`));
    assert.ok(((await figure('ownline_database_size_bytes')) ?? 0) > 1_000_000);
    const free = (await figure('ownline_data_dir_free_bytes')) ?? 0;
    assert.ok(free > 0 && free <= ((await figure('ownline_data_dir_size_bytes')) ?? 0));
  });

  it('/metrics counts numbers by state, counts those with waiting messages, and shows the age of the oldest waiting message', async () => {
    const other = await service.newTeam();
    await other.api.post('/v1/numbers/verify', { phone_number: '+14155550102' });
    const change = (status: string) => team.api.put(`/v1/numbers/${number.numberId}`, { status });
    assert.equal((await change('paused')).status, 200);
    service.clock.advance(60_000);
    const of = async (state: string) => [
      await figure(`ownline_numbers{state="${state}"}`),
      await figure(`ownline_numbers_with_queue{state="${state}"}`),
    ];
    assert.deepEqual(await of('pending'), [1, 0]);
    assert.deepEqual(await of('paused'), [1, 1]);
    const age = (await figure('ownline_numbers_queue_oldest_seconds{state="paused"}')) ?? 0;
    assert.ok(age >= 60, String(age));
    await change('active');
    service.clock.advance(15_001);
    assert.deepEqual(await of('paused'), [0, 0]);
    const others = await Promise.all(
      ['online', 'late', 'offline'].map(async (state) => (await of(state))[1]),
    );
    assert.deepEqual(others.sort(), [0, 0, 1]);
  });

  it('/metrics counts webhooks by state', async () => {
    await putWebhook(service, team.id, ['message.sent'], { isActive: false, disabledBy: 'failures' });
    service.clock.advance(30_001);
    const of = (state: string) => `ownline_webhooks{state="${state}"}`;
    await assertFigures({
      [of('disabled_by_failures')]: 1,
      [of('disabled_by_member')]: 0,
      [of('active')]: 0,
    });
  });

  it('/metrics shows how many callers wait for a database connection, and the durations of the waits', async () => {
    // These pools belong to the test's runtime, which no request uses.
    const { database, metrics } = service.runtime;
    const figures = async (name: string) => {
      const line = (await metrics.metrics()).split('\n').find((text) => text.startsWith(`${name} `));
      return Number(line?.split(' ')[1]);
    };
    const slow = 'ownline_pool_wait_seconds_sum{pool="other"}';
    const before = await figures('ownline_pool_wait_seconds_count{pool="other"}');
    const max = await figures('ownline_pool_connections_max{pool="other"}');
    const clients = await Promise.all(Array.from({ length: max }, () => database.pool.connect()));
    const waitedBefore = await figures(slow);
    const waiting = isMailFailing(database.pool, new MailHealth());
    assert.equal(await figures('ownline_pool_waiting{pool="other"}'), 1);
    assert.equal(await figures('ownline_pool_connections{pool="other"}'), max);
    const sinceMs = performance.now();
    await until('50 ms have passed', async () => performance.now() - sinceMs > 50);
    for (const client of clients) client.release();
    await waiting;
    assert.ok((await figures(slow)) - waitedBefore > 0.05);
    assert.equal(await figures('ownline_pool_wait_seconds_count{pool="other"}'), before + max + 1);
    assert.equal(await figures('ownline_pool_waiting{pool="other"}'), 0);
  });

  it('/metrics has every metric and fixed label that the alerts and the Grafana board name', async () => {
    const { text } = await read();
    const types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]),
    );
    const lines = text.split('\n');
    const expressions = [
      ...readAlerts().map(({ expr }) => expr),
      ...readBoard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ];
    const uses = expressions.flatMap(metricsIn);
    assert.ok(uses.length > 70);
    const missing = uses.filter(({ metric, fixed }) => {
      const name = metric.replace(/_(bucket|count|sum)$/, '');
      const isThere = types.get(metric) !== undefined || types.get(name) === 'histogram';
      const hasLabels = lines.some(
        (line) => line.startsWith(`${metric}{`) && fixed.every((label) => line.includes(label)),
      );
      return !isThere || (fixed.length > 0 && !hasLabels);
    });
    assert.deepEqual(missing, []);
  });

  it('/metrics names no team, number or person, and no path that contains an id', async () => {
    await team.api.get('/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41');
    await fetch(`${service.baseUrl}/nowhere/secret-path`);
    const { text, type } = await read();
    assert.match(type, /^text\/plain; version=0\.0\.4/);
    for (const word of ['counted words', '+1415555', 'own_live_', 'secret-path', team.id])
      assert.ok(!text.includes(word), word);
    assert.doesNotMatch(text, /\b(team|num|msg|dev|ses)_\w{20}/);
    assert.match(text, /route="\/v1\/messages\/:id"/);
  });

  it('/metrics answers 401 to every token other than METRICS_TOKEN', async () => {
    for (const wrong of ['', 'Bearer', `Basic ${metricsToken}`, `Bearer ${metricsToken}x`, metricsToken]) {
      const refused = await scrape(wrong);
      assert.equal(refused.status, 401, wrong);
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
      assert.match(await refused.text(), /"code":"unauthorized".*METRICS_TOKEN/);
    }
    assert.equal((await scrape(`bearer  ${metricsToken}`)).status, 200);
  });

  it('a new status of a route adds a line to /metrics, and invented methods and paths add none', async () => {
    const series = async () =>
      (await read()).text.split('\n').filter((line) => line.startsWith('ownline_http_request'));
    const ask = (method: string, path: string, headers = {}) =>
      fetch(`${service.baseUrl}${path}`, { method, headers });
    await ask('GET', '/made-up');
    await ask('DELETE', '/v1/team');
    await ask('GET', '/v1/team', { 'x-api-key': team.api.key });
    const before = await series();
    assert.ok(before.some((line) => line.includes('route="none"')));
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'MKCOL']) {
      await ask(method, '/made-up');
      await ask(method, `/made-up-${method}`);
      if (method !== 'GET' && method !== 'PUT') await ask(method, '/v1/team');
    }
    assert.equal((await series()).length, before.length);
    await ask('GET', '/v1/team');
    const added = (await series()).filter(
      (line) => !before.some((old) => old.split(' ')[0] === line.split(' ')[0]),
    );
    assert.deepEqual(added, ['ownline_http_requests_total{method="GET",route="/v1/team",status="401"} 1']);
  });
});
