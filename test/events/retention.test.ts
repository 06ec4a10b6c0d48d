import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { publicId } from '#server/platform/ids.ts';
import { givenService } from '#test/support/service/given-team.ts';
import {
  countAttempts,
  newDelivery,
  putAttempts,
  putWebhook,
  uuidOf,
} from '#test/support/webhooks/make-webhooks.ts';

const dayMs = 86_400_000;

describe('the retention of deliveries', () => {
  const service = givenService({ ROLES: 'api', DELIVERY_LOG_DAYS: '7' });

  it('attempts older than DELIVERY_LOG_DAYS are deleted in batches, and their deliveries stay', async () => {
    const { runtime, clock } = service;
    const team = await service.newTeam();
    const { id: webhookId } = await putWebhook(service, team.id, ['message.sent']);
    const webhook = publicId('wh', webhookId);
    const delivery = await newDelivery(service, team, webhook, { status: 'succeeded' });
    const attempt = (count: number) => putAttempts(service, team.id, uuidOf('dlv', delivery), count);
    const purge = async () => {
      const history = new HistoryPurge(runtime);
      while ((await history.run()) !== 'done');
      return countAttempts(service, team.id);
    };
    await attempt(1_001);
    clock.advance(6 * dayMs);
    await attempt(3);
    assert.equal(await purge(), 1_004);
    clock.advance(dayMs + 1);
    assert.equal(await purge(), 3);
    // The attempts of a redelivery are younger than those before it.
    clock.advance(6 * dayMs);
    assert.equal(await purge(), 0);
    await attempt(3);
    const { deliveries } = (await team.api.get(`/v1/webhooks/${webhook}/deliveries`)).json;
    assert.equal((deliveries as unknown[]).length, 1);
    assert.equal(await countAttempts(service, team.id), 3);
  });
});
