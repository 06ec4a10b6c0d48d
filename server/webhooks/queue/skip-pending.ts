import { statement, type Transaction } from '#server/database/statement.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';

/** Deliveries of one round: a long backlog in one statement would exceed its time-out. */
export const skipBatchMax = 10_000;

/** SQL: the final status of a delivery without further attempts. Once a receiver has taken it, it has succeeded. */
export const sqlStatusAfterSkip = `CASE WHEN succeeded_at IS NULL THEN 'skipped' ELSE 'succeeded' END`;

// Attempts in progress are not aborted: their results are logged, and no further ones follow. Manual
// attempts are made all the same.
const skip = statement<{ skipped: number; team_id: TeamId | null }>(
  'webhooks.skip-pending',
  `WITH round AS MATERIALIZED (
     SELECT delivery_id FROM due_deliveries WHERE webhook_id = $1 AND lane <> 'manual'
     ORDER BY delivery_id LIMIT ${skipBatchMax}
   ),
   waiting AS (
     DELETE FROM due_deliveries WHERE webhook_id = $1 AND delivery_id = ANY(ARRAY(SELECT delivery_id FROM round))
     RETURNING team_id, delivery_id
   ),
   skipped AS (
     UPDATE deliveries SET status = ${sqlStatusAfterSkip}, finished_at = $2
     WHERE team_id = (SELECT team_id FROM waiting LIMIT 1) AND id = ANY(ARRAY(SELECT delivery_id FROM waiting))
   )
   SELECT count(*) AS skipped, (SELECT team_id FROM waiting LIMIT 1) AS team_id FROM waiting`,
  { changes: 'delivery', team: 'team_id' },
);

/**
 * Skips the pending deliveries of a webhook that is switched off, so that a replay finds them (specification section
 * 6.3). It runs in the transaction that switches the webhook off and has locked its row FOR UPDATE.
 * @returns how many: where that is `skipBatchMax`, there may be more, which the caller or the sweep skips
 */
export async function skipPending(trx: Transaction, webhookId: WebhookId, at: Date): Promise<number> {
  return (await skip.row(trx, webhookId, at))?.skipped ?? 0;
}
