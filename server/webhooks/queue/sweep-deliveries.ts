import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { sqlDeliveryGuard, sqlStatusAfter } from './delivery-status.ts';
import { sqlWebhooksWithDue } from './due-webhooks.ts';

/** How many deliveries of one webhook one round skips; the next round continues. */
const sweptMax = 1_000;

// A disabled webhook has pending deliveries if their events were written while it was disabled, or if skipping was
// interrupted. The same applies to a deleted webhook. Locked rows are skipped until the next round, a second later.
const sweep = query<{ at: Date }, { team_id: TeamId }>(
  'webhooks.sweep-deliveries',
  `WITH RECURSIVE ${sqlWebhooksWithDue}, off AS MATERIALIZED (
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
