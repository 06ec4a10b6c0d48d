import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, notFound } from '#server/platform/app-error.ts';
import { type DeliveryId, publicId } from '#server/platform/ids/ids.ts';
import type { WebhookTarget } from '#server/webhooks/endpoints/run-webhook-change.ts';
import { lockWebhookNoKeyUpdate } from '#server/webhooks/endpoints/webhook-store.ts';
import { type DeliveryRow, findDelivery, queueManualAttempt, reopenDelivery } from './delivery-store.ts';

/**
 * Redelivers: queues one attempt of a delivery in any state but pending, also while the webhook is off (specification
 * section 4.4). It sends the same bytes to the current url with the current secret. It is not counted.
 * @throws AppError 404; 409 while it is pending, and for a test
 */
export function redeliver(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  { teamId, webhookId, by }: WebhookTarget,
  deliveryId: DeliveryId,
): Promise<DeliveryRow> {
  return services.database.transaction(async (trx) => {
    // Locks the webhook first, so that it is not deleted meanwhile.
    if (!(await lockWebhookNoKeyUpdate(trx, teamId, webhookId))) throw notFound('webhook');
    const delivery = await findDelivery(trx, teamId, webhookId, deliveryId);
    if (!delivery) throw notFound('delivery');
    if (delivery.is_test) {
      throw new AppError(
        'conflict',
        'This was a test, whose sample is not kept. Send another with POST …/test.',
      );
    }
    const reopened = await reopenDelivery(trx, delivery);
    if (!reopened) {
      throw new AppError('conflict', 'This delivery is pending: an attempt is made anyway. Wait for it.');
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
