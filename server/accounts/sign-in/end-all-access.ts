import { type Transaction, transactionStatement } from '#server/database/statement.ts';

const endSessions = transactionStatement('accounts.end-all-sessions', 'DELETE FROM account_sessions');
const endLinks = transactionStatement('accounts.end-all-links', 'DELETE FROM magic_links');
const endChallenges = transactionStatement('accounts.end-all-challenges', 'DELETE FROM passkey_challenges');

/**
 * After a restore, ends all browser sessions, magic links and passkey challenges. Otherwise a session that was signed
 * out after the backup would be valid again.
 */
export async function endAllAccess(trx: Transaction): Promise<void> {
  await endSessions.run(trx);
  await endLinks.run(trx);
  await endChallenges.run(trx);
}
