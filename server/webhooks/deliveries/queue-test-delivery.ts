import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { WebhookTarget } from '#server/webhooks/endpoints/run-webhook-change.ts';
import { lockWebhookNoKeyUpdate } from '#server/webhooks/endpoints/webhook-store.ts';
import { type DeliveryRow, insertTestDelivery, queueManualAttempt } from './delivery-store.ts';
import { sampleEvent } from './sample-event.ts';

/**
 * Queues one signed sample of the webhook's first event type, even for a disabled webhook (specification section 4.4).
 * Its attempt does not count as a failure, and the sample does not appear in the feed.
 * @throws AppError 404
 */
export function queueTestDelivery(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
): Promise<DeliveryRow> {
  const { database, clock, ids } = services;
  return database.transaction(async (trx) => {
    const webhook = await lockWebhookNoKeyUpdate(trx, { teamId, webhookId });
    const [type] = webhook?.events ?? [];
    if (!webhook || type === undefined) throw notFound('webhook');
    const at = clock.now();
    const eventId = ids.next('evt', at.getTime());
    const delivery = await insertTestDelivery(trx, {
      teamId,
      webhookId,
      deliveryId: ids.next('dlv', at.getTime()),
      eventId,
      eventType: type,
      createdAt: at,
    });
    const target = publicId('wh', webhookId);
    await recordAudit(trx, services, { by, action: 'webhook.tested', teamId, target });
    const messageId = ids.nextPublic('msg');
    const sample = sampleEvent(type, { eventId, messageId, teamId, number: webhook.phone_number, at });
    return queueManualAttempt(trx, delivery, at, JSON.stringify(sample));
  });
}
