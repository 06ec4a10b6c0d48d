import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { type AttemptId, firstIdAt } from '#server/platform/ids/ids.ts';

/** How many attempts one batch deletes; each may contain 16 KB of a response. */
export const purgeBatchMax = 1_000;

/** Upper bound on the batches of a round; the next round, an hour later, continues. */
const batchesMax = 1_000;

// An attempt that an erasure has locked is skipped until the next round.
const purge = statement<[string, number], { readonly id: AttemptId }>(
  'webhooks.purge-attempts',
  `WITH old AS MATERIALIZED (
     SELECT team_id, delivery_id, id FROM attempts WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
   )
   DELETE FROM attempts a USING old
   WHERE a.team_id = old.team_id AND a.delivery_id = old.delivery_id AND a.id = old.id AND a.id < $1 RETURNING a.id`,
);

/** Retention of attempts: DELIVERY_LOG_DAYS, but no longer than that of their deliveries. */
export function attemptsKeptMs({
  deliveryLogMs,
  retentionMs = deliveryLogMs,
}: Pick<Runtime['config'], 'deliveryLogMs' | 'retentionMs'>): number {
  return Math.min(deliveryLogMs, retentionMs);
}

/**
 * Deletes attempts and their responses after DELIVERY_LOG_DAYS (specification section 10.5). The deliveries of the
 * attempts stay. The work is done in batches, so that other transactions do not wait for long.
 * @returns the number of deleted attempts
 */
export async function purgeAttempts({
  database,
  clock,
  config,
}: Pick<Runtime, 'database' | 'clock' | 'config'>): Promise<number> {
  const bound = firstIdAt(clock.nowMs() - attemptsKeptMs(config));
  let forgotten = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const rows = await purge.rows(database.pool, bound, purgeBatchMax);
    forgotten += rows.length;
    if (rows.length < purgeBatchMax) break;
  }
  return forgotten;
}
