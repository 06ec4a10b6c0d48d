import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type DeliveryId, publicId } from '#server/platform/ids/ids.ts';
import type { WebhookTarget } from '#server/webhooks/endpoints/run-webhook-change.ts';
import { lockWebhookNoKeyUpdate } from '#server/webhooks/endpoints/webhook-store.ts';
import {
  type DeliveryRow,
  findDelivery,
  insertTestDelivery,
  queueManualAttempt,
  reopenDelivery,
} from './delivery-store.ts';
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

/**
 * Redelivers: queues one attempt of a finished delivery, even for a disabled webhook (specification section 4.4). The
 * attempt sends the same bytes to the current url with the current secret, and never counts as a failure.
 * @throws AppError 404; 409 for a pending delivery, and for a test delivery
 */
export function redeliver(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
  deliveryId: DeliveryId,
): Promise<DeliveryRow> {
  return services.database.transaction(async (trx) => {
    // The lock prevents a deletion of the webhook meanwhile.
    if (!(await lockWebhookNoKeyUpdate(trx, { teamId, webhookId }))) throw notFound('webhook');
    const delivery = await findDelivery(trx, { teamId, webhookId, deliveryId });
    if (!delivery) throw notFound('delivery');
    if (delivery.is_test) {
      throw conflict(
        'This delivery was a test, whose sample event is not stored. Send another with POST /v1/webhooks/:id/test.',
      );
    }
    const reopened = await reopenDelivery(trx, { teamId, deliveryId });
    if (!reopened) {
      throw conflict('This delivery is pending, so an attempt follows by itself. Wait for it.');
    }
    await recordAudit(trx, services, {
      by,
      action: 'webhook.redelivered',
      teamId,
      target: publicId('wh', webhookId),
      details: { delivery_id: publicId('dlv', deliveryId) },
    });
    return queueManualAttempt(trx, reopened, services.clock.now(), null);
  });
}
