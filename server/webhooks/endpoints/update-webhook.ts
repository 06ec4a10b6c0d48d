import type { UpdateWebhookRequest } from '#contract/webhook.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { skipBatchMax, skipPending } from '#server/webhooks/queue/skip-pending.ts';
import { runWebhookChange, type WebhookTarget } from './run-webhook-change.ts';
import { requireOwnNumber, validateWebhookUrl } from './validate-webhook.ts';
import { applyWebhookChange } from './webhook-settings.ts';
import { lockWebhook, type WebhookIds, type WebhookRow, writeSettings } from './webhook-store.ts';

/**
 * Changes the given fields of a webhook (specification section 4.4); `{}` changes nothing. Deliveries claimed after the
 * commit go to the new url. A disabled webhook gets manual attempts only: its pending deliveries are skipped before
 * this returns, in rounds with short locks.
 * @throws AppError 400, param url, events or phone_number; 404
 */
export async function updateWebhook(
  services: Runtime,
  target: WebhookTarget,
  change: UpdateWebhookRequest,
): Promise<WebhookRow> {
  if (change.url !== undefined) validateWebhookUrl(change.url, services.config.egressAllowed);
  const { webhook, skipped } = await runWebhookChange(
    services,
    target,
    'webhook.changed',
    async (trx, before) => {
      const { phone_number: phoneNumber } = change;
      if (typeof phoneNumber === 'string') await requireOwnNumber(trx, target.teamId, phoneNumber);
      const at = services.clock.now();
      const webhook = await writeSettings(trx, { ...target, ...applyWebhookChange(before, change, at) });
      const skipped = webhook.is_active ? 0 : await skipPending(trx, { ...target, at });
      const noted = Object.keys(change).length > 0 ? { ...change } : undefined;
      return { result: { webhook, skipped }, noted };
    },
  );
  if (skipped === skipBatchMax) await skipTheRest(services, target);
  return webhook;
}

/**
 * Skips the rest of a backlog, unless the webhook is enabled again meanwhile. If the process dies, the sweep continues
 * the work.
 */
async function skipTheRest({ database, clock }: Runtime, ids: WebhookIds): Promise<void> {
  let skipped = skipBatchMax;
  while (skipped === skipBatchMax) {
    skipped = await database.transaction(async (trx) => {
      const webhook = await lockWebhook(trx, ids);
      return webhook && !webhook.is_active ? skipPending(trx, { ...ids, at: clock.now() }) : 0;
    });
  }
}
