import { query } from '#server/database/query.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';

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
