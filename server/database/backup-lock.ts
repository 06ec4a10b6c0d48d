import { type Transaction, transactionStatement } from './statement.ts';

/**
 * Advisory lock of backups. A backup holds it exclusively; work that removes or changes rows which the backup must
 * still read holds it shared (docs/architecture.md, "Lock order"). The number is arbitrary, and no other code uses it.
 */
export const backupLock = 7_061_726_402;

const tryShared = transactionStatement<[], { is_free: boolean }>(
  'backups.exclude',
  `SELECT pg_try_advisory_xact_lock_shared(${backupLock}) AS is_free`,
);

/**
 * Keeps backups from starting until the end of this transaction.
 * @returns false while a backup runs or waits: the caller then does its work in a later round
 */
export async function excludeBackups(trx: Transaction): Promise<boolean> {
  return (await tryShared.row(trx))?.is_free === true;
}
