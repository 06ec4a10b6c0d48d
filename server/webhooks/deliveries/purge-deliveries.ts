import type { IdRange } from '#server/database/purge-walk.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';

// Skips a delivery that another transaction has locked, because a replay may make it pending.
const purge = transactionStatement<[string, string, number]>(
  'deliveries.purge',
  `WITH old AS MATERIALIZED (
     SELECT o.team_id, o.id FROM teams t
     CROSS JOIN LATERAL (
       SELECT d.team_id, d.id FROM deliveries d
       WHERE d.team_id = t.id AND d.id >= $1 AND d.id < $2 AND d.status <> 'pending'
       ORDER BY d.team_id, d.id LIMIT $3 FOR UPDATE SKIP LOCKED
     ) o LIMIT $3
   )
   DELETE FROM deliveries d USING old
   WHERE d.team_id = old.team_id AND d.id = old.id AND d.id >= $1 AND d.id < $2 RETURNING d.id`,
);
const findPending = statement<[string, string]>(
  'deliveries.find-pending-of-range',
  // Reads along the queue's primary key, webhook by webhook.
  `SELECT w.team_id FROM webhooks w
   WHERE EXISTS (SELECT FROM due_deliveries q WHERE q.webhook_id = w.id AND q.delivery_id >= $1 AND q.delivery_id < $2 OFFSET 0)
   LIMIT 1`,
);

/** Deletes finished deliveries (specification section 10.9). @returns the number of deleted deliveries */
export async function purgeDeliveries(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  return purge.count(trx, range.from, range.to, limit);
}

/** Whether a delivery in the range is pending. A delivery's id sorts as the id of its event does. */
export async function hasPendingDeliveries(db: Queryable, range: IdRange): Promise<boolean> {
  return findPending.hasRow(db, range.from, range.to);
}
