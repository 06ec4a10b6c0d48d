import { statement, type Transaction } from '#server/database/statement.ts';
import type { WebhookId } from '#server/platform/ids.ts';

// Attempts that run are not broken off: what they bring is written to the log, and no later one follows them. What was
// asked for as a single attempt is made all the same.
const skip = statement<Record<string, never>>(
  'webhooks.skip-pending',
  `WITH waiting AS (
     DELETE FROM due_deliveries WHERE webhook_id = $1 AND lane <> 'single' RETURNING team_id, delivery_id
   )
   UPDATE deliveries d SET status = 'skipped', finished_at = $2
   FROM waiting w WHERE d.team_id = w.team_id AND d.id = w.delivery_id`,
);

/**
 * What waits for a webhook that is switched off is skipped and kept for a replay (specification section 6.3), in the
 * transaction that switches it off and holds the webhook's row FOR UPDATE.
 */
export async function skipPending(trx: Transaction, webhookId: WebhookId, at: Date): Promise<void> {
  await skip.row(trx, webhookId, at);
}
