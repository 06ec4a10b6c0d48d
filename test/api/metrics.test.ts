import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectedNumber, connectNumber } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';
import { until } from '#test/support/until.ts';

describe('GET /metrics (specification section 10.4)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService({ DEVICE_HOLD_SECONDS: '25' });
    team = await service.newTeam({ plan: 'free', monthlyLimit: 3 });
    number = await connectNumber(service, team, '+14155550100');
  });
  after(() => service.close());

  const read = async () => {
    const response = await fetch(`${service.baseUrl}/metrics`);
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

  it('counts sends by what became of them, refusals by code, and the sizes of batches', async () => {
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
    const posts = '{le="+Inf",method="POST",route="/v1/messages/send",status="202"}';
    assert.equal(await figure(`ownline_http_request_duration_seconds_bucket${posts}`), 4);
  });

  it('shows the queue’s depth and age, what is in flight, and the polls that are held', async () => {
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
});
