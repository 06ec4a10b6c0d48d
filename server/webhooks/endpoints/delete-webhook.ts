import type { Runtime } from '#server/database/runtime.ts';
import { deleteBatchMax, deletePending } from '#server/webhooks/queue/delete-pending.ts';
import { runWebhookChange, type WebhookTarget } from './run-webhook-change.ts';
import { removeWebhook } from './webhook-store.ts';

/**
 * Deletes a webhook and its pending deliveries (specification section 4.4). No attempt begins after the commit. The
 * rest of a long backlog is deleted in rounds afterwards.
 * @throws AppError 404
 */
export async function deleteWebhook(services: Runtime, target: WebhookTarget): Promise<void> {
  let dropped = await runWebhookChange(services, target, 'webhook.deleted', async (trx, webhook) => {
    await removeWebhook(trx, target);
    return { result: await deletePending(trx, target), noted: { url: webhook.url } };
  });
  while (dropped === deleteBatchMax) dropped = await deletePending(services.database.pool, target);
}
