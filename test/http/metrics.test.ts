import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const metricsToken = 'a-token-for-tests';

describe('GET /metrics (specification section 10.4)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService({ DEVICE_HOLD_SECONDS: '25', METRICS_TOKEN: metricsToken });
    team = await service.newTeam({ plan: 'free', monthlyLimit: 3 });
    number = await connectNumber(service, team, '+14155550100');
  });
  after(() => service.close());

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
  const send = (key?: string) =>
    team.api.request('POST', '/v1/messages/send', {
      body: { from: number.phoneNumber, to: '+14155550101', content: 'counted words' },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });

  it('counts sends by outcome, refusals by code, and the sizes of batches', async () => {
    await send('once');
    await send('once');
    await send();
    await send();
    await send();
    await team.api.post('/v1/messages/send', { from: '+14155550199', to: '+14155550101', content: 'x' });
    await team.api.post('/v1/messages/send', {});
    assert.equal(await figure('ownline_sends_total{verdict="accepted"}'), 3);
    assert.equal(await figure('ownline_sends_total{verdict="replayed"}'), 1);
    assert.equal(await figure('ownline_sends_total{verdict="over_limit"}'), 1);
    assert.equal(await figure('ownline_sends_total{verdict="from_unregistered"}'), 1);
    assert.equal(
      await figure('ownline_refusals_total{route="/v1/messages/send",code="plan_limit_exceeded"}'),
      1,
    );
    assert.equal(await figure('ownline_refusals_total{route="/v1/messages/send",code="invalid_request"}'), 2);
    assert.equal(await figure('ownline_send_batch_size_sum'), 6);
    const sends = 'method="POST",route="/v1/messages/send"';
    assert.equal(await figure(`ownline_http_requests_total{${sends},status="202"}`), 4);
    assert.equal(await figure(`ownline_http_request_duration_seconds_bucket{le="+Inf",${sends}}`), 7);
  });

  it('shows the queue’s depth and age, the messages in flight, and the held polls', async () => {
    service.clock.advance(6_000);
    assert.equal(await figure('ownline_queue_depth'), 3);
    const age = await figure('ownline_queue_oldest_seconds');
    assert.ok(age !== undefined && age > 5, String(age));
    assert.equal((await number.wire.poll()).action, 'send');
    // A look at the queue is believed for five seconds.
    service.clock.advance(5_001);
    assert.equal(await figure('ownline_queue_depth'), 2);
    assert.equal(await figure('ownline_in_flight'), 1);
    const leaving = new AbortController();
    const held = number.wire.poll({}, leaving.signal);
    held.catch(() => undefined);
    await until('the poll is held', async () => (await figure('ownline_polls_held')) === 1);
    leaving.abort();
    await until('it has left', async () => (await figure('ownline_polls_held')) === 0);
  });

  it('names no team, number or person, and no address with an id in it', async () => {
    await team.api.get('/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41');
    await fetch(`${service.baseUrl}/nowhere/secret-path`);
    const { text, type } = await read();
    assert.match(type, /^text\/plain; version=0\.0\.4/);
    for (const word of ['counted words', '+1415555', 'own_live_', 'secret-path', team.id])
      assert.ok(!text.includes(word), word);
    assert.doesNotMatch(text, /\b(team|num|msg|dev|ses)_\w{20}/);
    assert.match(text, /route="\/v1\/messages\/:id"/);
  });

  it('accepts its token only: else 401', async () => {
    for (const wrong of ['', 'Bearer', `Basic ${metricsToken}`, `Bearer ${metricsToken}x`, metricsToken]) {
      const refused = await scrape(wrong);
      assert.equal(refused.status, 401, wrong);
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
      assert.match(await refused.text(), /"code":"unauthorized".*METRICS_TOKEN/);
    }
    assert.equal((await scrape(`bearer  ${metricsToken}`)).status, 200);
  });

  it('grows by a line for a status of a route, and by none for methods and addresses that are made up', async () => {
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

describe('without METRICS_TOKEN (specification section 10.4)', () => {
  it('/metrics is 404 with the name of the setting, also with an empty token', async () => {
    const service = await startTestService();
    try {
      for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer undefined' }]) {
        const response = await fetch(`${service.baseUrl}/metrics`, { headers });
        assert.equal(response.status, 404);
        assert.match(await response.text(), /Set METRICS_TOKEN/);
      }
    } finally {
      await service.close();
    }
  });
});
