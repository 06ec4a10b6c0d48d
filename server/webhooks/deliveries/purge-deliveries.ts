import { type IdRange, nextIdOf } from '#server/database/purge-walk.ts';
import { type Transaction, transactionStatement } from '#server/database/statement.ts';

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

export const findNextDelivery = nextIdOf('deliveries');

/** Deletes finished deliveries (specification section 10.9). @returns the number of deleted deliveries */
export async function purgeDeliveries(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  return purge.count(trx, range.from, range.to, limit);
}
