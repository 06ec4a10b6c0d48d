import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTypes } from '#contract/event.ts';
import { planNames, plans } from '#contract/plans.ts';
import { deleteBatchMax } from '#server/webhooks/queue/pending-deliveries.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { setRole } from '#test/support/people/given-accounts.ts';
import { newMember } from '#test/support/people/people.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newDelivery, newWebhook, nowhere, queueMany, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { deliveriesOf, dueDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

describe('POST /v1/webhooks (specification section 4.4)', () => {
  const { service, team } = givenTeamBesideCanary({
    ROLES: 'api,maintain',
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  });

  const make = (fields: Readonly<Record<string, unknown>>, api: ApiClient = team.api) =>
    api.post('/v1/webhooks', { url: nowhere, events: ['message.sent'], ...fields });

  function assertRefused(answer: ApiAnswer, param: string, text?: RegExp): void {
    assert.equal(answer.status, 400, answer.text);
    assert.equal(field(answer.json, 'error.param'), param);
    if (text) assert.match(String(field(answer.json, 'error.message')), text);
  }

  it('creating a webhook answers 201 with seven fields, the secret among them (§6.4/replay-and-rotation)', async () => {
    const { status, json } = await make({ events: [...eventTypes] });
    assert.equal(status, 201);
    const { id, secret, created_at, ...rest } = json;
    assert.deepEqual(rest, { url: nowhere, events: [...eventTypes], phone_number: null, active: true });
    assert.match(String(id), /^wh_/);
    assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(String(secret).slice(6), 'base64').length, 32);
    assert.match(String(created_at), /Z$/);
    assert.notEqual((await make({})).json.secret, secret);
  });

  it('repeated events are stored once, and an empty list and unknown events are refused', async () => {
    const events = ['message.sent', 'message.received', 'message.sent'];
    assert.deepEqual((await make({ events })).json.events, ['message.sent', 'message.received']);
    for (const wrong of [[], ['message.read'], ['message.sent', 'x'], 'message.sent', null]) {
      assertRefused(await make({ events: wrong }), 'events');
    }
    assertRefused(await team.api.post('/v1/webhooks', { url: nowhere }), 'events');
  });

  it('a webhook accepts a number of the team, even a pending one, and no other', async () => {
    const phone = '+14155550120';
    assertRefused(await make({ phone_number: phone }), 'phone_number', /not a number of this team/);
    await (await service.newTeam()).api.post('/v1/numbers/verify', { phone_number: phone });
    assertRefused(await make({ phone_number: phone }), 'phone_number');
    await team.api.post('/v1/numbers/verify', { phone_number: phone });
    assert.equal((await make({ phone_number: phone })).json.phone_number, phone);
    assertRefused(await make({ phone_number: '4155550120' }), 'phone_number');
  });

  it('a webhook accepts https to a host name or http to an allowed literal address, and shows the url as it was sent (§6.5/https-urls)', async () => {
    const fits = [
      'https://example.com',
      'HTTPS://Example.com:8443/hooks?a=b#c',
      'http://127.0.0.1:8080/hooks',
      'https://127.0.0.1/',
      `https://example.com/${'a'.repeat(2_048 - 'https://example.com/'.length)}`,
    ];
    for (const url of fits) {
      const answer = await make({ url });
      assert.partialDeepStrictEqual(answer, { status: 201, json: { url } });
    }
  });

  it('a webhook refuses every url except https to a host name and http to an allowed literal address, with param url (§6.5/https-urls, §6.5/literal-addresses)', async () => {
    const wrong = [
      'ftp://example.com/',
      'http://example.com/',
      'https://user@example.com/',
      'https://10.0.0.1/',
    ];
    const before = (await team.api.get('/v1/webhooks')).text;
    for (const url of wrong) assertRefused(await make({ url }), 'url', /\w/);
    assert.equal((await team.api.get('/v1/webhooks')).text, before);
  });

  for (const plan of planNames) {
    const { webhooks: limit } = plans[plan];
    it(`${limit} of ${limit + 10} simultaneous creations on ${plan} succeed, and the others get 402 (§8/plan-webhooks)`, async () => {
      const { api } = await service.newTeam({ plan });
      const events = ['message.delivered'];
      const asked = Array.from({ length: limit + 10 }, () => make({ events }, api));
      const answers = await Promise.all(asked);
      const refused = answers.filter(({ status }) => status === 402);
      assert.equal(refused.length, 10);
      for (const { json } of refused) {
        const { message, ...error } = field(json, 'error') as Record<string, unknown>;
        const upgrade_url = `${service.runtime.config.appUrl}/billing`;
        assert.deepEqual(error, { code: 'plan_limit_exceeded', limit, current: limit, upgrade_url });
        assert.equal(
          message,
          `The plan ${plan} allows ${limit} webhooks. Delete one${plan === 'enterprise' ? '. No plan allows more.' : `, or see ${upgrade_url} for a larger plan.`}`,
        );
      }
      const stored = (await api.get('/v1/webhooks')).json.webhooks;
      assert.ok(Array.isArray(stored));
      assert.equal(stored.length, limit);
    });
  }

  it('a member who loses the role while the request waits creates no webhook', async () => {
    const member = await newMember(service, team, 'member');
    const lock = await holdRowLock(service, { teamId: team.id });
    const asked = member.post(member.in('/webhooks'), { url: nowhere, events: ['message.sent'] });
    await lock.waiting(1);
    await setRole(service, member.account.id, 'viewer');
    await lock.release();
    assert.equal((await asked).status, 403);
  });
});

describe('GET /v1/webhooks and GET /v1/webhooks/:id (specification section 4.4)', () => {
  const service = givenService({ ROLES: 'api,maintain' });
  given(() => plantCanary(service));

  it('the list of a team without webhooks is empty', async () => {
    const { api } = await service.newTeam();
    assert.deepEqual((await api.get('/v1/webhooks')).json, { webhooks: [] });
  });

  it('the list has webhooks oldest first, disabled ones included', async () => {
    const { api } = await service.newTeam();
    const made = [await newWebhook(api), await newWebhook(api, { events: ['message.sent'] })];
    await api.put(`/v1/webhooks/${made[0]?.id}`, { active: false });
    const { json } = await api.get('/v1/webhooks');
    assertEach(json.webhooks as Record<string, unknown>[], ({ id, active }) => [id, active], [
      [made[0]?.id, false],
      [made[1]?.id, true],
    ]);
  });
});

describe('DELETE /v1/webhooks/:id', () => {
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });

  it('deleting a webhook answers {deleted: true} and deletes its pending deliveries of every lane', async () => {
    const { id } = await newWebhook(team.api);
    const other = await newWebhook(team.api);
    await newDelivery(service, team, id, { status: 'pending' });
    await newDelivery(service, team, id, { status: 'failed' });
    await newDelivery(service, team, other.id, { status: 'pending' });
    await team.api.post(`/v1/webhooks/${id}/test`);
    const answer = await team.api.delete(`/v1/webhooks/${id}`);
    assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
    const left = await dueDeliveries(service, { teamId: team.id });
    assertEach(left, ({ webhookId }) => webhookId, [uuidOf('wh', other.id)]);
    const deliveries = await deliveriesOf(service, { id: uuidOf('wh', id) });
    assert.ok(deliveries.length > 0 && deliveries.every(({ status }) => status !== 'pending'));
    for (const path of ['', '/deliveries']) {
      assert.equal((await team.api.get(`/v1/webhooks/${id}${path}`)).status, 404);
    }
    assert.equal((await team.api.get(`/v1/webhooks/${other.id}`)).status, 200);
  });

  it('deleting a webhook with a long backlog answers after the backlog is deleted', async () => {
    const { id } = await newWebhook(team.api);
    await queueMany(service, team, id, deleteBatchMax + 5);
    assert.equal((await team.api.delete(`/v1/webhooks/${id}`)).status, 200);
    const left = await dueDeliveries(service, { webhookId: uuidOf('wh', id) });
    assert.equal(left.length, 0);
  });

  it('only one of several simultaneous deletions of a webhook is 200, and the others are 404', async () => {
    const { api } = await service.newTeam({ plan: 'free' });
    const made = await Promise.all([1, 2, 3, 4, 5].map(() => newWebhook(api)));
    const statuses = await Promise.all(
      [1, 2, 3, 4].map(async () => (await api.delete(`/v1/webhooks/${made[0]?.id}`)).status),
    );
    assert.deepEqual(statuses.toSorted(), [200, 404, 404, 404]);
    await newWebhook(api);
    assert.equal((await api.post('/v1/webhooks', { url: nowhere, events: ['message.sent'] })).status, 402);
  });
});
