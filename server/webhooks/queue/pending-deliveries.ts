import { query, transactionQuery } from '#server/database/query.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import { sqlStatusAfter } from './delivery-status.ts';

/** Upper bound on the deliveries of a round: a long backlog in one statement would exceed its time-out. */
export const skipBatchMax = 10_000;

/**
 * Statement that skips a round of a webhook's pending deliveries. Attempts in progress are not aborted: their results
 * are logged, but the deliveries get no further attempts.
 * @param which SQL condition on the rows of the queue, with the parameters Params
 * @returns a function that returns the number of skipped deliveries; at `skipBatchMax` there may be more, for the caller
 * or the sweep
 */
export function skipRound<Params extends object = object>(name: string, which: string) {
  return transactionQuery<
    Params & { webhookId: WebhookId; at: Date },
    { skipped: number; team_id: TeamId | null }
  >(
    name,
    `WITH round AS MATERIALIZED (
       SELECT delivery_id FROM due_deliveries WHERE webhook_id = :webhookId AND ${which}
       ORDER BY delivery_id LIMIT ${skipBatchMax}
     ),
     waiting AS (
       DELETE FROM due_deliveries WHERE webhook_id = :webhookId AND delivery_id = ANY(ARRAY(SELECT delivery_id FROM round))
       RETURNING team_id, delivery_id
     ),
     skipped AS (
       UPDATE deliveries d SET status = ${sqlStatusAfter('skip', 'd')}, finished_at = :at
       WHERE d.team_id = (SELECT team_id FROM waiting LIMIT 1) AND d.id = ANY(ARRAY(SELECT delivery_id FROM waiting))
     )
     SELECT count(*) AS skipped, (SELECT team_id FROM waiting LIMIT 1) AS team_id FROM waiting`,
    { changes: 'delivery', team: 'team_id' },
  ).number;
}

/**
 * Skips a round of a disabled webhook's pending deliveries, so that a replay finds them (specification section 6.3);
 * manual attempts are still made. The caller's transaction disables the webhook, and has locked its row FOR UPDATE.
 */
export const skipPending = skipRound('webhooks.skip-pending', "lane <> 'manual'");

/** Upper bound on the deliveries that one round deletes: a longer backlog would exceed the statement's time-out. */
export const deleteBatchMax = 10_000;

/**
 * Deletes a round of a deleted webhook's pending deliveries; finished ones stay in the history (specification section
 * 4.4).
 * @returns the number of deleted deliveries; at `deleteBatchMax` there may be more
 */
export const deletePending = query<{ webhookId: WebhookId }, { dropped: number; team_id: TeamId | null }>(
  'webhooks.delete-pending',
  `WITH round AS MATERIALIZED (
     SELECT delivery_id FROM due_deliveries WHERE webhook_id = :webhookId ORDER BY delivery_id LIMIT ${deleteBatchMax}
   ),
   waiting AS (
     DELETE FROM due_deliveries WHERE webhook_id = :webhookId AND delivery_id = ANY(ARRAY(SELECT delivery_id FROM round))
     RETURNING team_id, delivery_id
   ),
   dropped AS (
     DELETE FROM deliveries
     WHERE team_id = (SELECT team_id FROM waiting LIMIT 1) AND id = ANY(ARRAY(SELECT delivery_id FROM waiting))
   )
   SELECT count(*) AS dropped, (SELECT team_id FROM waiting LIMIT 1) AS team_id FROM waiting`,
  { changes: 'delivery', team: 'team_id' },
).number;
