import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deleteBatchMax } from '#server/webhooks/queue/pending-deliveries.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newDelivery, newWebhook, nowhere, queueMany, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { deliveriesOf, dueDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

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
