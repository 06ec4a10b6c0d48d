import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';

const ends = ['account_sessions', 'magic_links', 'passkey_challenges'].map(
  (table) => transactionQuery(`${table}.end-all`, `DELETE FROM ${table}`).run,
);

/**
 * After a restore, ends all browser sessions, magic links and passkey challenges. Otherwise a session that was signed
 * out after the backup would be valid again.
 */
export async function endAllAccess(trx: Transaction): Promise<void> {
  for (const end of ends) await end(trx);
}

/** An hour, the longest window of a throttle. */
const windowMs = 3_600_000;

const purges = (
  [
    ['account_sessions', 'expires_at', 0],
    ['magic_links', 'expires_at', 0],
    ['passkey_challenges', 'expires_at', 0],
    ['throttle_counters', 'window_start', windowMs],
  ] as const
).map(([table, column, keptMs]) => ({
  purge: query<{ before: Date }>(`${table}.purge`, `DELETE FROM ${table} WHERE ${column} <= :before`).run,
  keptMs,
}));

/** Deletes expired sessions, magic links, passkey challenges and throttle counters, which have no effect any more. */
export async function purgeExpired({ database, clock }: Runtime): Promise<void> {
  for (const { purge, keptMs } of purges) await purge(database.pool, { before: clock.in(-keptMs) });
}
