import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { skipBatchMax } from '#server/webhooks/queue/pending-deliveries.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { newMember } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import {
  disableByFailures,
  newDelivery,
  newWebhook,
  nowhere,
  queueMany,
  setFailureCount,
  uuidOf,
} from '#test/support/webhooks/make-webhooks.ts';
import { deliveriesOf, dueDeliveries, type Lane } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';

describe('PUT /v1/webhooks/:id (specification section 4.4)', () => {
  let id: string;
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });
  beforeEach(async () => {
    ({ id } = await newWebhook(team.api));
  });

  const put = (change: unknown) => team.api.put(`/v1/webhooks/${id}`, change);
  const get = async () => (await team.api.get(`/v1/webhooks/${id}`)).json;
  const kept = () => stateOf(service, { id: uuidOf('wh', id) });
  const fail = (failures: number) => setFailureCount(service, uuidOf('wh', id), failures);
  const due = async (only?: Lane) =>
    (await dueDeliveries(service, { webhookId: uuidOf('wh', id) })).filter(
      ({ lane }) => only === undefined || lane === only,
    ).length;

  it('an update with {}, an empty body or no body changes nothing and writes no audit entry', async () => {
    const before = await get();
    const noted = async () =>
      (await storedAuditEntries(service)).filter(({ action }) => action === 'webhook.changed');
    const entries = (await noted()).length;
    for (const options of [{ body: {} }, { rawBody: '' }, {}]) {
      const answer = await team.api.request('PUT', `/v1/webhooks/${id}`, {
        headers: { 'content-type': 'application/json' },
        ...options,
      });
      assert.deepEqual([answer.status, answer.json], [200, before]);
    }
    assert.equal((await noted()).length, entries);
    assert.equal((await kept()).generation, 1);
  });

  it('each field can be changed alone, and the answer is the webhook as in the list', async () => {
    await team.api.post('/v1/numbers/verify', { phone_number: '+14155550121' });
    const changes = [
      { url: 'https://example.com/elsewhere' },
      { events: ['message.failed', 'message.sent'] },
      { phone_number: '+14155550121' },
      { phone_number: null },
      { active: false },
      { active: true },
    ];
    let expected = await get();
    for (const change of changes) {
      expected = { ...expected, ...change };
      const answer = await put(change);
      assert.deepEqual([answer.status, answer.json], [200, expected], JSON.stringify(change));
      assert.deepEqual(await get(), expected);
    }
  });

  it('values that a new webhook could not have are refused with their field, and change nothing (§6.5/literal-addresses)', async () => {
    const before = await get();
    const wrong: [Record<string, unknown>, string][] = [
      [{ url: 'http://example.com/' }, 'url'],
      [{ url: 'https://10.0.0.1/', active: false }, 'url'],
      [{ events: [] }, 'events'],
      [{ events: ['message.read'] }, 'events'],
      [{ phone_number: '+14155550129', active: false }, 'phone_number'],
      [{ active: 'yes' }, 'active'],
      [{ secret: 'whsec_x' }, 'secret'],
    ];
    for (const [change, param] of wrong) {
      const answer = await put(change);
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, param], answer.text);
    }
    assert.deepEqual(await get(), before);
  });

  it('active false skips the pending deliveries at once, but not a manual attempt (§3.4/enable-and-disable)', async () => {
    const pending = await newDelivery(service, team, id, { status: 'pending' });
    const test = await team.api.post(`/v1/webhooks/${id}/test`);
    assert.equal((await put({ active: false })).status, 200);
    const states = await Promise.all(
      [pending, String(test.json.id)].map(async (delivery) => {
        const { json } = await team.api.get(`/v1/webhooks/${id}/deliveries/${delivery}`);
        return [json.status, json.next_attempt_at === null, json.finished_at === null];
      }),
    );
    assert.deepEqual(states, [
      ['skipped', true, false],
      ['pending', false, true],
    ]);
    assert.deepEqual([await due(), await due('manual')], [1, 1]);
    const { disabledBy, disabledAt } = await kept();
    assert.equal(disabledBy, 'member');
    assert.ok(disabledAt);
    await put({ active: false, events: ['message.sent'] });
    assert.deepEqual((await kept()).disabledAt, disabledAt, 'switched off once');
  });

  it('active false skips a long backlog completely before its request is answered', async () => {
    await queueMany(service, team, id, skipBatchMax + 5);
    assert.equal((await put({ active: false })).status, 200);
    assert.equal(await due(), 0);
    const deliveries = await deliveriesOf(service, { id: uuidOf('wh', id) });
    assert.equal(deliveries.length, skipBatchMax + 5);
    assert.ok(deliveries.every(({ status }) => status === 'skipped'));
  });

  it('active true zeroes failure_count and begins a generation, even if the webhook is already enabled (§3.4/enable-and-disable)', async () => {
    await fail(7);
    await put({ active: true });
    assert.deepEqual([(await get()).failure_count, (await kept()).generation], [0, 2]);
    await disableByFailures(service, uuidOf('wh', id));
    await put({ events: ['message.sent'] });
    assert.deepEqual([(await get()).failure_count, (await kept()).disabledBy], [10, 'failures']);
    assert.deepEqual((await put({ active: true })).json, {
      ...(await get()),
      active: true,
      failure_count: 0,
    });
    const { generation, disabledBy, disabledAt } = await kept();
    assert.deepEqual([generation, disabledBy, disabledAt], [3, null, null]);
  });

  it('a new url of a webhook zeroes failure_count, begins a generation, and applies to the pending deliveries', async () => {
    await fail(7);
    await newDelivery(service, team, id, { status: 'pending' });
    await put({ url: nowhere });
    assert.deepEqual([(await get()).failure_count, (await kept()).generation], [7, 1]);
    await put({ url: 'https://example.com/new' });
    assert.deepEqual([(await get()).failure_count, (await kept()).generation, await due('live')], [0, 2, 1]);
  });

  it('an update waits for the lock of its webhook, and is then applied', async () => {
    const lock = await holdRowLock(service, { webhookId: uuidOf('wh', id) }, 'no key update');
    const asked = put({ active: false });
    await lock.waiting(1);
    const late = await newDelivery(service, team, id, { status: 'pending' });
    await lock.release();
    assert.equal((await asked).status, 200);
    assert.equal((await team.api.get(`/v1/webhooks/${id}/deliveries/${late}`)).json.status, 'skipped');
  });

  it('an update is in the audit log with the changed fields (section 12.6)', async () => {
    const owner = await newMember(service, team, 'owner');
    await owner.put(owner.in(`/webhooks/${id}`), { active: false });
    const { json } = await owner.get(owner.in('/audit?limit=1'));
    const [entry] = json.entries as Record<string, unknown>[];
    assert.deepEqual(
      [entry?.action, entry?.target, entry?.details],
      ['webhook.changed', id, { active: false }],
    );
  });
});
