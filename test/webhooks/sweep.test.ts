import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { publicId } from '#server/platform/ids/ids.ts';
import { sweepDeliveries } from '#server/webhooks/queue/sweep-deliveries.ts';
import { switchSubscription } from '#test/support/events/given-subscriptions.ts';
import { deliveriesOf, dueDeliveries } from '#test/support/webhooks/stored-deliveries.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('the sweep of waiting deliveries (decision 0017)', () => {
  const service = givenWebhookService({ ROLES: 'api' });

  it('the sweep skips deliveries that were added while their webhook was disabled, except manual attempts (§6.3/failure-count)', async () => {
    const { runtime } = service;
    const team = await service.newTeam();
    const off = await addWebhook(runtime, team.id, 'http://127.0.0.1:9/');
    await emit(runtime, team.id, ['met it']);
    const on = await addWebhook(runtime, team.id, 'http://127.0.0.1:9/');
    await emit(runtime, team.id, ['to both']);
    const test = await team.api.post(`/v1/webhooks/${publicId('wh', off.id)}/test`);
    assert.equal(test.status, 202, test.text);
    await switchSubscription(service, off.id, false);
    await sweepDeliveries(runtime);
    const statuses = async (webhook: typeof off) =>
      (await deliveriesOf(service, webhook)).map(({ status }) => status);
    assert.deepEqual(await statuses(off), ['skipped', 'skipped', 'pending']);
    assert.deepEqual(await statuses(on), ['pending']);
    const waiting = await dueDeliveries(service);
    assert.deepEqual(waiting.map(({ lane }) => lane).sort(), ['live', 'manual']);
  });
});
