import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId, WebhookId } from '#server/platform/ids.ts';
import { type Lane, laneSlots, lanes } from '#server/webhooks/limits.ts';
import { sqlDeliveryGuard, sqlStatusAfter } from './delivery-status.ts';

/**
 * SQL of a recursive CTE `walked (webhook_id)`: the webhooks with deliveries in the queue, in the order of their ids.
 * The CTE takes one step in the index per webhook, whatever the number of live rows. But it also reads all dead rows
 * that an open snapshot keeps. Its last row is null.
 */
export const sqlWebhooksWithDue = `walked AS (
     (SELECT webhook_id FROM due_deliveries WHERE webhook_id > '00000000-0000-0000-0000-000000000000' ORDER BY webhook_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.webhook_id FROM due_deliveries d WHERE d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
     FROM walked w WHERE w.webhook_id IS NOT NULL
   )`;

/** SQL of one SELECT per lane, joined by UNION ALL, because each lane has a separate index with only its rows. */
export function sqlForEachLane(select: (lane: Lane, slots: number) => string): string {
  return lanes.map((lane) => select(lane, laneSlots[lane])).join(' UNION ALL ');
}

/** A webhook with deliveries in the queue, and the first due time of each lane in milliseconds; null for an empty lane. */
export type QueuedWebhook = Readonly<Record<Lane, number | null>> & { readonly id: WebhookId };

/** Reads the whole queue, at a cost that depends on its dead rows. @returns the webhooks with deliveries */
export const findQueuedWebhooks = query<object, QueuedWebhook>(
  'webhooks.look-at-queue',
  `WITH RECURSIVE ${sqlWebhooksWithDue}
   SELECT webhook_id AS id, ${lanes
     .map(
       (lane) => `(SELECT floor(extract(epoch FROM due_at) * 1000)::float8 FROM due_deliveries
         WHERE webhook_id = w.webhook_id AND lane = '${lane}' ORDER BY due_at LIMIT 1) AS ${lane}`,
     )
     .join(', ')}
   FROM walked w WHERE webhook_id IS NOT NULL`,
).rows;

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
 * Deletes a round of a deleted webhook's pending deliveries; finished deliveries stay (specification section 4.4).
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

/** How many deliveries of one webhook one round skips; the next round continues. */
const sweptMax = 1_000;

// A disabled webhook has pending deliveries if their events were written while it was disabled, or if skipping was
// interrupted. The same applies to a deleted webhook. Locked rows wait for the next round, a second later.
const sweep = query<{ at: Date }, { team_id: TeamId }>(
  'webhooks.sweep-deliveries',
  `WITH RECURSIVE ${sqlWebhooksWithDue}, off AS MATERIALIZED (
     SELECT w.webhook_id, h.id IS NULL AS is_deleted
     FROM walked w LEFT JOIN LATERAL (SELECT id, is_active FROM webhooks WHERE id = w.webhook_id OFFSET 0) h ON true
     WHERE w.webhook_id IS NOT NULL AND h.is_active IS NOT TRUE
   ), disabled AS MATERIALIZED (
     SELECT id FROM webhooks WHERE id = ANY (ARRAY(SELECT webhook_id FROM off)) AND NOT is_active
     ORDER BY id FOR UPDATE SKIP LOCKED
   ), found AS MATERIALIZED (
     SELECT d.tid FROM off o CROSS JOIN LATERAL (
       SELECT ctid AS tid FROM due_deliveries
       WHERE webhook_id = o.webhook_id AND (o.is_deleted OR lane <> 'manual') LIMIT ${sweptMax}
     ) d
     WHERE o.is_deleted OR o.webhook_id IN (SELECT id FROM disabled)
   ), locked AS MATERIALIZED (
     SELECT ctid AS tid FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM found)) FOR UPDATE SKIP LOCKED
   ), waiting AS (
     DELETE FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM locked)) RETURNING team_id, delivery_id
   ), skipped AS (
     UPDATE deliveries d SET status = ${sqlStatusAfter('skip', 'd')}, finished_at = :at
     WHERE d.team_id = ANY (ARRAY(SELECT team_id FROM waiting)) AND d.id = ANY (ARRAY(SELECT delivery_id FROM waiting))
       AND ${sqlDeliveryGuard('skip', 'd')} RETURNING d.team_id
   )
   SELECT DISTINCT team_id FROM skipped`,
  { changes: 'delivery', team: 'team_id' },
);

/** Skips pending deliveries of disabled or deleted webhooks (decision 0017). */
export async function sweepDeliveries({ database, clock }: Runtime): Promise<void> {
  await sweep.run(database.pool, { at: clock.now() });
}
