import { type IdRange, nextIdOf } from '#server/database/purge-walk.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Transaction, transactionStatement } from '#server/database/statement.ts';

// Reads team by team along the primary key, by the ids of the deliveries: an attempt is never older than its delivery. An
// attempt that an erasure has locked is skipped until the next walk.
const purge = transactionStatement<[string, string, string, number]>(
  'webhooks.purge-attempts',
  `WITH old AS MATERIALIZED (
     SELECT o.team_id, o.delivery_id, o.id FROM teams t
     CROSS JOIN LATERAL (
       SELECT a.team_id, a.delivery_id, a.id FROM attempts a
       WHERE a.team_id = t.id AND a.delivery_id >= $1 AND a.delivery_id < $2 AND a.id < $3
       ORDER BY a.team_id, a.delivery_id, a.id LIMIT $4 FOR UPDATE SKIP LOCKED
     ) o LIMIT $4
   )
   DELETE FROM attempts a USING old
   WHERE a.team_id = old.team_id AND a.delivery_id = old.delivery_id AND a.id = old.id RETURNING a.id`,
);

export const findNextAttempt = nextIdOf('attempts', 'delivery_id');

/** Retention of attempts: DELIVERY_LOG_DAYS, but no longer than that of their deliveries. */
export function attemptsKeptMs({
  deliveryLogMs,
  retentionMs = deliveryLogMs,
}: Pick<Runtime['config'], 'deliveryLogMs' | 'retentionMs'>): number {
  return Math.min(deliveryLogMs, retentionMs);
}

/**
 * Deletes attempts and their responses after DELIVERY_LOG_DAYS (specification section 10.5). The deliveries of the
 * attempts stay.
 * @param range of the ids of their deliveries
 * @param boundId the least id of an attempt that stays
 * @returns the number of deleted attempts
 */
export async function purgeAttempts(
  trx: Transaction,
  range: IdRange,
  boundId: string,
  limit: number,
): Promise<number> {
  return purge.count(trx, range.from, range.to, boundId, limit);
}
