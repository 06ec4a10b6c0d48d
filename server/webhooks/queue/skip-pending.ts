import { statement, type Transaction } from '#server/database/statement.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';

/** A round: a backlog of any length in one statement would take longer than statements may. */
export const skipBatchMax = 10_000;

/** SQL: the status of a delivery of which no more attempts are made. What a receiver has taken, late or before, is taken. */
export const sqlSkipped = `CASE WHEN succeeded_at IS NULL THEN 'skipped' ELSE 'succeeded' END`;

// Attempts that run are not aborted: what they bring is written to the log, and no later one follows them. What was
// asked for as a manual attempt is made all the same.
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
     UPDATE deliveries SET status = ${sqlSkipped}, finished_at = $2
     WHERE team_id = (SELECT team_id FROM waiting LIMIT 1) AND id = ANY(ARRAY(SELECT delivery_id FROM waiting))
   )
   SELECT count(*) AS skipped, (SELECT team_id FROM waiting LIMIT 1) AS team_id FROM waiting`,
  { changes: 'delivery', team: 'team_id' },
);

/**
 * What waits for a webhook that is switched off is skipped and kept for a replay (specification section 6.3), in the
 * transaction that switches it off and holds the webhook's row FOR UPDATE.
 * @returns how many: where that is `skipBatchMax`, there may be more, which the caller or the sweep skips
 */
export async function skipPending(trx: Transaction, webhookId: WebhookId, at: Date): Promise<number> {
  return (await skip.row(trx, webhookId, at))?.skipped ?? 0;
}
