import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { sqlWebhooksWithDue } from './due-webhooks.ts';
import { sqlStatusAfterSkip } from './skip-pending.ts';

/** Deliveries of one webhook in one round; the next round takes the rest. */
const sweptMax = 1_000;

// Deliveries of a disabled webhook come from events that were written while it was disabled, or from an interrupted
// skipping; those of a deleted one likewise. Locked rows are skipped: the next round comes in a second.
const sweep = statement<{ readonly team_id: TeamId }>(
  'webhooks.sweep-deliveries',
  `WITH RECURSIVE ${sqlWebhooksWithDue()}, off AS MATERIALIZED (
     SELECT w.webhook_id, h.id IS NULL AS is_deleted
     FROM walked w LEFT JOIN LATERAL (SELECT id, is_active FROM webhooks WHERE id = w.webhook_id OFFSET 0) h ON true
     WHERE w.webhook_id IS NOT NULL AND h.is_active IS NOT TRUE
   ), held AS MATERIALIZED (
     SELECT id FROM webhooks WHERE id = ANY (ARRAY(SELECT webhook_id FROM off)) AND NOT is_active
     ORDER BY id FOR UPDATE SKIP LOCKED
   ), found AS MATERIALIZED (
     SELECT d.tid FROM off o CROSS JOIN LATERAL (
       SELECT ctid AS tid FROM due_deliveries
       WHERE webhook_id = o.webhook_id AND (o.is_deleted OR lane <> 'manual') LIMIT ${sweptMax}
     ) d
     WHERE o.is_deleted OR o.webhook_id IN (SELECT id FROM held)
   ), locked AS MATERIALIZED (
     SELECT ctid AS tid FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM found)) FOR UPDATE SKIP LOCKED
   ), waiting AS (
     DELETE FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM locked)) RETURNING team_id, delivery_id
   ), skipped AS (
     UPDATE deliveries d SET status = ${sqlStatusAfterSkip}, finished_at = $1
     FROM waiting w WHERE d.team_id = w.team_id AND d.id = w.delivery_id AND d.status = 'pending' RETURNING d.team_id
   )
   SELECT DISTINCT team_id FROM skipped`,
  { changes: 'delivery', team: 'team_id' },
);

/** Skips pending deliveries of webhooks that are off or deleted (decision 0017). */
export async function sweepDeliveries({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  await sweep.row(database.pool, clock.now());
}
