import { statement, type Transaction } from '#server/database/statement.ts';

const endSessions = statement<Record<string, never>>(
  'accounts.end-all-sessions',
  'DELETE FROM account_sessions',
);
const endLinks = statement<Record<string, never>>('accounts.end-all-links', 'DELETE FROM magic_links');
const endChallenges = statement<Record<string, never>>(
  'accounts.end-all-challenges',
  'DELETE FROM passkey_challenges',
);

/**
 * After a restore, ends all browser sessions, magic links and passkey challenges. Otherwise a session that was signed
 * out after the backup would be valid again.
 */
export async function endAllAccess(trx: Transaction): Promise<void> {
  await endSessions.row(trx);
  await endLinks.row(trx);
  await endChallenges.row(trx);
}
