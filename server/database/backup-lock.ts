import { transactionQuery } from './query.ts';

/**
 * Advisory lock of backups. A backup holds it exclusively; work that removes or changes rows which the backup must
 * still read holds it shared (docs/internals/locks.md). The number is arbitrary, and no other code uses it.
 */
export const backupLock = 7_061_726_402;

/**
 * Keeps backups from starting until the end of this transaction.
 * @returns false while a backup runs or waits: the caller then does its work in a later round
 */
export const excludeBackups = transactionQuery(
  'backups.exclude',
  `SELECT FROM (SELECT pg_try_advisory_xact_lock_shared(${backupLock}) AS is_free) AS lock WHERE is_free`,
).hasRow;
