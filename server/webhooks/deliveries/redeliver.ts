import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type DeliveryId, publicId } from '#server/platform/ids/ids.ts';
import type { WebhookTarget } from '#server/webhooks/endpoints/run-webhook-change.ts';
import { lockWebhookNoKeyUpdate } from '#server/webhooks/endpoints/webhook-store.ts';
import { type DeliveryRow, findDelivery, queueManualAttempt, reopenDelivery } from './delivery-store.ts';

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
