import type { Runtime } from '#server/database/runtime.ts';
import { changeWebhook, type WebhookTarget } from './change-webhook.ts';
import { dropPending, droppedMax } from './drop-pending.ts';
import { removeWebhook } from './webhook-store.ts';

/**
 * Deletes a webhook, and what is pending for it (specification section 4.4). From its commit on no attempt begins; the
 * end of a long backlog goes in rounds after it.
 * @throws AppError 404
 */
export async function deleteWebhook(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  target: WebhookTarget,
): Promise<void> {
  let dropped = await changeWebhook(services, target, 'webhook.deleted', async (trx, webhook) => {
    await removeWebhook(trx, webhook);
    return { result: await dropPending(trx, webhook.id), noted: { url: webhook.url } };
  });
  while (dropped === droppedMax) dropped = await dropPending(services.database.pool, target.webhookId);
}
