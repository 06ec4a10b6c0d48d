import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testLine } from '#contract/test-line.ts';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

const recipient = '+15005550101';

const metricsToken = 'a-token-for-tests';

describe('test keys (§5.4/test-key)', () => {
  const service = givenService({ METRICS_TOKEN: metricsToken });

  const hello = { from: testLine, to: recipient, content: 'Hello' };

  async function untilDelivered(api: ApiClient, id: string): Promise<void> {
    await until(
      'it is delivered',
      async () => (await api.get(`/v1/messages/${id}`)).json.status === 'delivered',
    );
  }

  it('a member makes a test key in the dashboard, and the first request with it is a send (§5.4/test-key)', async () => {
    const team = await service.newTeam();
    const owner = await newMember(service, team, 'owner');
    const make = () => owner.post(owner.in('/keys'), { name: 'CI', permissions: ['*'], test: true });
    const [made, second] = await Promise.all([make(), make()]);
    assert.deepEqual([made.status, second.status], [201, 201], made.text);
    assert.equal(made.json.test, true);
    assert.match(String(made.json.key), /^own_test_[a-z0-9]{4}[0-9A-Za-z]{38}$/);
    const api = new ApiClient(service.baseUrl, String(made.json.key));
    const id = await api.send(hello);
    await untilDelivered(api, id);
    const own = new ApiClient(service.baseUrl, String(second.json.key));
    assert.equal((await own.get(`/v1/messages/${id}`)).status, 200, 'both keys act for one test team');
    const { keys } = (await owner.get(owner.in('/keys'))).json as { keys: { id: string; test?: true }[] };
    assert.deepEqual(
      keys
        .filter(({ test }) => test)
        .map((key) => key.id)
        .sort(),
      [made.json.id, second.json.id].sort(),
    );
    assert.ok(
      keys.some((key) => !('test' in key)),
      'a live key has no mark',
    );
    assert.equal((await owner.request('DELETE', owner.in(`/keys/${made.json.id}`))).status, 200);
    service.clock.advance(1_000);
    assert.equal((await api.get('/v1/team')).status, 401);
  });

  it('a test key sees no data of live keys, and a live key none of test keys (§5.4/test-data-apart)', async () => {
    const { api, team } = await newTestClient(service);
    const owner = await newMember(service, team, 'owner');
    const { phoneNumber } = await connectNumber(service, team);
    const live = await team.api.send({ from: phoneNumber, to: recipient, content: 'Live' });
    await team.api.post(`/v1/messages/${live}/cancel`);
    const test = await api.send(hello);
    await untilDelivered(api, test);
    for (const side of [api, team.api]) {
      const webhook = { url: 'https://example.com/hook', events: ['message.sent'] };
      assert.equal((await side.post('/v1/webhooks', webhook)).status, 201);
    }
    const optedOut = await api.request('PUT', `/v1/opt-outs/${encodeURIComponent('+15005550150')}`);
    assert.equal(optedOut.status, 200, optedOut.text);
    for (const [own, ownId, other, otherId] of [
      [api, test, team.api, live],
      [team.api, live, api, test],
    ] as const) {
      assert.equal((await own.get(`/v1/messages/${ownId}`)).status, 200);
      assert.equal((await own.get(`/v1/messages/${otherId}`)).status, 404);
      assert.equal((await own.post(`/v1/messages/${otherId}/cancel`)).status, 404);
      const listed = await own.get('/v1/messages');
      assert.ok(listed.text.includes(ownId) && !listed.text.includes(otherId));
      await until('its events are in the feed', async () =>
        (await own.get('/v1/events')).text.includes(ownId),
      );
      assert.ok(!(await own.get('/v1/events')).text.includes(otherId));
      const [webhook] = (await own.get('/v1/webhooks')).json.webhooks as { id: string }[];
      assert.equal((await other.get(`/v1/webhooks/${webhook?.id}`)).status, 404);
      assert.equal(((await own.get('/v1/webhooks')).json.webhooks as unknown[]).length, 1);
      assert.equal(((await own.get('/v1/numbers')).json.numbers as unknown[]).length, 1);
    }
    assert.equal(((await api.get('/v1/opt-outs')).json.opt_outs as unknown[]).length, 1);
    assert.equal(((await team.api.get('/v1/opt-outs')).json.opt_outs as unknown[]).length, 0);
    for (const path of ['/conversations', '/messages', '/numbers', '/webhooks', '/usage', '/home']) {
      const seen = await owner.get(owner.in(path));
      assert.equal(seen.status, 200, path);
      assert.ok(!seen.text.includes(test) && !seen.text.includes(testLine), path);
    }
  });

  it('a test key can opt out fictional contacts only, because an erasure does not reach test data (§5.4/test-data-apart)', async () => {
    const { api } = await newTestClient(service);
    for (const contact of ['+447911123456', 'ada@example.com', '55501']) {
      const refused = await api.request('PUT', `/v1/opt-outs/${encodeURIComponent(contact)}`);
      assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'contact'], contact);
    }
    assert.deepEqual((await api.get('/v1/opt-outs')).json.opt_outs, []);
  });

  it('an event of a test message names the test team, and goes only to webhooks that a test key created (§5.4/test-data-apart)', async () => {
    const { api, team } = await newTestClient(service);
    const testTeamId = (await api.get('/v1/team')).json.id;
    assert.notEqual(testTeamId, team.publicId);
    const webhook = { url: 'https://example.com/hook', events: ['message.sent'] };
    const [own, live] = [
      await api.post('/v1/webhooks', webhook),
      await team.api.post('/v1/webhooks', webhook),
    ];
    await untilDelivered(api, await api.send(hello));
    const events = await until('the events are in the feed', async () => {
      const list = (await api.get('/v1/events')).json.events as { team_id: string }[];
      return list.length === 2 ? list : undefined;
    });
    assertEach(events, (event) => event.team_id, [testTeamId, testTeamId]);
    const deliveries = async (client: ApiClient, id: unknown) =>
      (await client.get(`/v1/webhooks/${id}/deliveries`)).json.deliveries as unknown[];
    assert.equal((await deliveries(api, own.json.id)).length, 1);
    assert.deepEqual(await deliveries(team.api, live.json.id), []);
  });

  it('a live key and a test key of a team can each send one message with the same Idempotency-Key (§5.4/test-data-apart, §5.4/test-counts)', async () => {
    const { api, team } = await newTestClient(service);
    const { phoneNumber } = await connectNumber(service, team);
    const headers = { 'idempotency-key': 'order-1' };
    const send = (client: ApiClient, from: string) =>
      client.request('POST', '/v1/messages/send', { headers, body: { ...hello, from } });
    const test = await send(api, testLine);
    const live = await send(team.api, phoneNumber);
    assert.deepEqual([test.status, live.status], [202, 202], live.text);
    const again = await send(api, testLine);
    assert.deepEqual([again.json.id, again.headers.get('idempotent-replayed')], [test.json.id, 'true']);
  });

  it('test messages do not count towards the team’s month, and a test key has the features of the team’s plan (§5.4/test-counts)', async () => {
    const { api, team } = await newTestClient(service, { plan: 'free' });
    const owner = await newMember(service, team, 'owner');
    const limited = { plan: 'free', monthlyMessageLimit: 1 } as const;
    await changePlan(service.runtime, team.id, limited, operator);
    for (const content of ['One', 'Two']) await api.send({ ...hello, content });
    const usage = await owner.get(owner.in('/usage'));
    assert.equal(usage.json.sent, 0);
    const { phoneNumber } = await connectNumber(service, team);
    await team.api.send({ from: phoneNumber, to: recipient, content: 'Live' });
    const media = { ...hello, media_url: 'https://example.com/a.png' };
    assert.equal((await api.post('/v1/messages/send', media)).status, 402);
    await changePlan(service.runtime, team.id, { plan: 'pro', monthlyMessageLimit: 10 }, operator);
    const { plan, name, test } = (await api.get('/v1/team')).json;
    assert.deepEqual([plan, name, test], ['pro', 'Example team', true]);
    assert.equal((await api.post('/v1/messages/send', media)).status, 202);
    assert.ok(!('test' in (await team.api.get('/v1/team')).json), 'a live key has no mark');
  });

  it('test messages and the simulated number of test keys do not change the metrics of messages and numbers (§5.4/test-counts)', async () => {
    /** Metrics of messages and numbers, without the age of the queue, which time alone changes. */
    const scrape = async () => {
      service.clock.advance(15_001);
      const headers = { authorization: `Bearer ${metricsToken}` };
      const text = await (await fetch(`${service.baseUrl}/metrics`, { headers })).text();
      return text
        .split('\n')
        .filter((line) => /^ownline_(sends|message|numbers|queue|in_flight)/.test(line))
        .filter((line) => !line.includes('oldest_seconds'));
    };
    const before = await scrape();
    assert.ok(before.some((line) => line.startsWith('ownline_sends_total')));
    const { api } = await newTestClient(service);
    await api.send({ ...hello, to: '+15005550120' });
    await untilDelivered(api, await api.send(hello));
    assert.deepEqual(await scrape(), before);
  });

  it('a test team has one simulated number, and no phone can be connected to that number', async () => {
    const { api, team } = await newTestClient(service);
    const [line] = (await api.get('/v1/numbers')).json.numbers as { id: string }[];
    assertEach(['phone_number', 'verified', 'simulated', 'status'], (name) => field(line, name), [
      testLine,
      true,
      true,
      'active',
    ]);
    assert.equal((await api.request('DELETE', `/v1/numbers/${line?.id}`)).status, 403);
    assert.equal((await api.post(`/v1/numbers/${line?.id}/reconnect`)).status, 409);
    assert.equal((await api.post('/v1/numbers/verify', { phone_number: '+14155550142' })).status, 403);
    const taken = await team.api.post('/v1/numbers/verify', { phone_number: testLine });
    assert.deepEqual([taken.status, field(taken.json, 'error.param')], [409, 'phone_number']);
    const owner = await newMember(service, team, 'owner');
    const simulated = await owner.post(owner.in('/numbers/simulated'), { phone_number: testLine });
    assert.equal(simulated.status, 409, simulated.text);
    const real = await api.post('/v1/messages/send', { ...hello, to: '+447911123456' });
    assert.deepEqual([real.status, field(real.json, 'error.param')], [400, 'to']);
    const other = await api.post('/v1/messages/send', { ...hello, from: '+14155550142' });
    assert.match(String(field(other.json, 'error.message')), /A test key sends from \+15005550100/);
    const paused = await api.request('PUT', `/v1/numbers/${line?.id}`, { body: { status: 'paused' } });
    assert.equal(paused.json.status, 'paused');
    assert.equal((await api.post('/v1/messages/send', hello)).status, 400);
  });

  it('a test key is refused every change of the team (§5.4/test-permissions)', async () => {
    const { api, team } = await newTestClient(service);
    const invitation = { email: 'ada@example.com', role: 'viewer' };
    assert.equal((await api.post('/v1/team/members/invite', invitation)).status, 403);
    assert.equal((await api.request('PUT', '/v1/team', { body: { name: 'Other' } })).status, 403);
    const owner = await newMember(service, team, 'owner');
    const body = { name: 'CI', permissions: ['team:write'], test: true };
    const refused = await owner.post(owner.in('/keys'), body);
    assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'permissions']);
    const reader = await newTestClient(service, { grants: ['messages:read'] });
    assert.equal((await reader.api.post('/v1/messages/send', hello)).status, 403);
  });
});
