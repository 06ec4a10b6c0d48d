import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTypes } from '#contract/event.ts';
import { eventExamples } from '#contract/event-examples.ts';
import { roundExaminedMax } from '#server/webhooks/deliveries/replay-deliveries.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newDelivery, newWebhook, queueMany, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { dueDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

describe('deliveries that are attempted again (specification section 4.4)', () => {
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });

  const dueOf = (webhookId: string) => dueDeliveries(service, { webhookId: uuidOf('wh', webhookId) });
  const failuresOf = async (webhookId: string) =>
    (await team.api.get(`/v1/webhooks/${webhookId}`)).json.failure_count;
  const switchOff = (webhookId: string) => team.api.put(`/v1/webhooks/${webhookId}`, { active: false });

  describe('POST …/deliveries/:delivery_id/redeliver (specification section 4.4)', () => {
    const redeliver = (id: string, deliveryId: string) =>
      team.api.post(`/v1/webhooks/${id}/deliveries/${deliveryId}/redeliver`);

    for (const status of ['succeeded', 'failed', 'skipped'] as const) {
      it(`redelivering a ${status} delivery answers 202 with the pending delivery, and one attempt is due at once`, async () => {
        const { id } = await newWebhook(team.api);
        const deliveryId = await newDelivery(service, team, id, { status, ageMs: 60_000 });
        const answer = await redeliver(id, deliveryId);
        assert.equal(answer.status, 202, answer.text);
        assert.deepEqual(
          [answer.json.id, answer.json.status, answer.json.finished_at],
          [deliveryId, 'pending', null],
        );
        const [due, ...more] = await dueOf(id);
        assert.equal(more.length, 0);
        assert.deepEqual(
          [due?.deliveryId, due?.lane, due?.body],
          [uuidOf('dlv', deliveryId), 'manual', null],
        );
        assert.equal(answer.json.next_attempt_at, due?.dueAt.toISOString());
        assert.ok(Math.abs(Number(due?.dueAt) - service.clock.nowMs()) < 10_000);
      });
    }

    it('a delivery of a disabled webhook can be redelivered, and the webhook stays disabled', async () => {
      const { id } = await newWebhook(team.api);
      const deliveryId = await newDelivery(service, team, id, { status: 'skipped' });
      await switchOff(id);
      assert.equal((await redeliver(id, deliveryId)).status, 202);
      assert.equal((await team.api.get(`/v1/webhooks/${id}`)).json.active, false);
      assert.equal(await failuresOf(id), 0);
    });

    it('redelivering a pending delivery is 409, so only one of several simultaneous requests succeeds', async () => {
      const { id } = await newWebhook(team.api);
      const pending = await newDelivery(service, team, id, { status: 'pending' });
      const refused = await redeliver(id, pending);
      assert.deepEqual([refused.status, field(refused.json, 'error.code')], [409, 'conflict']);
      const failed = await newDelivery(service, team, id);
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => redeliver(id, failed)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409, 409, 409, 409]);
      assert.equal((await dueOf(id)).length, 2);
    });

    it('redelivering a test event is 409, and redelivering a delivery of another webhook is 404', async () => {
      const { id } = await newWebhook(team.api);
      const test = await newDelivery(service, team, id, { isTest: true });
      const answer = await redeliver(id, test);
      assert.equal(answer.status, 409);
      assert.match(String(field(answer.json, 'error.message')), /test/);
      const other = await newWebhook(team.api);
      assert.equal((await redeliver(other.id, await newDelivery(service, team, id))).status, 404);
    });
  });

  describe('POST /v1/webhooks/:id/test (specification section 4.4)', () => {
    const test = (id: string) => team.api.post(`/v1/webhooks/${id}/test`);

    for (const type of eventTypes) {
      it(`a test of ${type} answers 202, and its sample has the shape of section 6.2 (§6.2/envelope)`, async () => {
        await team.api.post('/v1/numbers/verify', { phone_number: '+14155550130' });
        const { id } = await newWebhook(team.api, {
          events: [type, 'message.sent'],
          phone_number: '+14155550130',
        });
        const { status, json } = await test(id);
        assert.equal(status, 202);
        assert.deepEqual(
          [json.test, json.event_type, json.status, json.webhook_id],
          [true, type, 'pending', id],
        );
        const [due] = await dueOf(id);
        assert.equal(due?.lane, 'manual');
        const sample = JSON.parse(due?.body ?? '{}');
        const { data, ...envelope } = sample;
        assert.deepEqual(envelope, {
          id: json.event_id,
          type,
          timestamp: json.created_at,
          team_id: team.publicId,
          api_version: 'v1',
          sequence: ['message.delivered', 'contact.opted_in', 'number.online'].includes(type) ? 2 : 1,
        });
        assert.deepEqual(Object.keys(data), Object.keys(eventExamples[type].data));
        const own = type === 'message.received' ? data.to : (data.phone_number ?? data.from);
        assert.equal(own, '+14155550130');
      });
    }

    it('a disabled webhook can be tested any number of times, and a test stores no event', async () => {
      const { id } = await newWebhook(team.api);
      await switchOff(id);
      const events = () => storedEvents(service, { teamId: team.id });
      const before = (await events()).length;
      for (const status of [202, 202]) assert.equal((await test(id)).status, status);
      assert.equal((await dueOf(id)).length, 2);
      assert.equal((await events()).length, before);
      assert.equal(await failuresOf(id), 0);
    });
  });

  describe('POST /v1/webhooks/:id/replay (specification section 4.4)', () => {
    const replay = (id: string, body: Readonly<Record<string, unknown>> = {}) =>
      team.api.post(`/v1/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z', only: 'all', ...body });
    const iso = (ageMs: number) => new Date(service.clock.nowMs() - ageMs).toISOString();
    const minute = 60_000;

    for (const [only, statuses] of [
      ['failed', ['failed']],
      ['skipped', ['skipped']],
      ['all', ['failed', 'skipped']],
    ] as const) {
      it(`a replay with only=${only} queues each delivery once, oldest first and after new events, and no delivery that succeeded`, async () => {
        const { id } = await newWebhook(team.api);
        const other = await newWebhook(team.api);
        const wanted: string[] = [];
        for (let age = 12; age > 0; age -= 1) {
          const status = (['failed', 'skipped', 'succeeded'] as const)[age % 3] ?? 'failed';
          const deliveryId = await newDelivery(service, team, id, { status, ageMs: age * minute });
          if (statuses.some((one) => one === status)) wanted.push(uuidOf('dlv', deliveryId));
          await newDelivery(service, team, other.id, { status, ageMs: age * minute });
        }
        await newDelivery(service, team, id, { status: 'failed', isTest: true });
        const live = await newDelivery(service, team, id, { status: 'pending' });
        const answer = await replay(id, { only });
        assert.deepEqual([answer.status, answer.json], [202, { queued: wanted.length }]);
        const [first, ...queued] = await dueOf(id);
        assert.equal(first?.deliveryId, uuidOf('dlv', live));
        assertEach(queued, ({ deliveryId }) => deliveryId, wanted);
        for (const { lane, attempt, firstStartedAt } of queued) {
          assert.deepEqual([lane, attempt, firstStartedAt], ['replay', 1, null]);
        }
        const pending = await team.api.get(`/v1/webhooks/${id}/deliveries?status=pending&limit=100`);
        assert.equal((pending.json.deliveries as unknown[]).length, wanted.length + 1);
        assert.deepEqual((await replay(id, { only })).json, { queued: 0 });
        assert.equal((await dueOf(other.id)).length, 0);
      });
    }

    it('a replay includes the events from the time since on, and before the time until (§4.4/replay)', async () => {
      const { id } = await newWebhook(team.api);
      for (const age of [40, 30, 20, 10]) await newDelivery(service, team, id, { ageMs: age * minute });
      const range = { since: iso(35 * minute), until: iso(15 * minute) };
      assert.deepEqual((await replay(id, range)).json, { queued: 2 });
      assert.deepEqual((await replay(id, { since: iso(15 * minute) })).json, { queued: 1 });
      const exact = await newDelivery(service, team, id);
      const { created_at } = (await team.api.get(`/v1/webhooks/${id}/deliveries/${exact}`)).json;
      const after = new Date(Date.parse(String(created_at)) + 1).toISOString();
      assert.deepEqual((await replay(id, { since: after })).json, { queued: 0 });
      assert.deepEqual((await replay(id, { since: iso(minute), until: created_at })).json, { queued: 0 });
      assert.deepEqual((await replay(id, { since: created_at, until: after })).json, { queued: 1 });
    });

    it('the times since and until may have a UTC offset, and other formats are refused (§4.4/replay)', async () => {
      const { id } = await newWebhook(team.api);
      assert.equal((await replay(id, { since: '2026-02-28T23:59:59.123456+14:00' })).status, 202);
      const wrong = [
        '',
        'yesterday',
        '2026-11-21',
        '2026-11-21T09:30:00',
        '2026-02-29T00:00:00Z',
        '1795944600',
      ];
      wrong.push(
        '2026-13-01T00:00:00Z',
        '2026-11-21T24:00:00Z',
        '2026-11-21 09:30:00Z',
        '+012026-01-01T00:00:00Z',
      );
      for (const since of wrong) {
        const answer = await replay(id, { since });
        assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, 'since'], since);
      }
      for (const until of ['x', '2020-01-01T00:00:00Z', '2019-01-01T00:00:00Z']) {
        assert.equal(field((await replay(id, { until })).json, 'error.param'), 'until');
      }
      assert.equal(field((await replay(id, { only: 'succeeded' })).json, 'error.param'), 'only');
    });

    it('a replay of a disabled webhook is 409, and queues nothing (§4.4/replay)', async () => {
      const { id } = await newWebhook(team.api);
      await newDelivery(service, team, id);
      await switchOff(id);
      assert.equal((await replay(id)).status, 409);
      assert.equal((await dueOf(id)).length, 0);
      await team.api.put(`/v1/webhooks/${id}`, { active: true });
      assert.deepEqual((await replay(id)).json, { queued: 1 });
    });

    it('a replay queues a long backlog in batches, in order, each delivery once, even if two requests are simultaneous (§4.4/replay)', async () => {
      const { id } = await newWebhook(team.api);
      const count = 2 * roundExaminedMax + 10;
      await queueMany(service, team, id, count, 'skipped');
      const answers = await Promise.all([replay(id), replay(id)]);
      const queued = answers.map(({ json }) => Number(json.queued));
      assert.equal(
        queued.reduce((sum, one) => sum + one, 0),
        count,
      );
      const due = await dueOf(id);
      const places = due.map(({ deliveryId }) => deliveryId);
      assert.deepEqual(places, places.toSorted());
      assert.equal(new Set(places).size, count);
    });
  });
});
