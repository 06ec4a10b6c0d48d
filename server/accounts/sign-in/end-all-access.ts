import { transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';

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
