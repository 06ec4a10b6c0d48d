import type { Logger } from '#server/platform/process/logger.ts';
import { monthOf } from '#server/platform/time/calendar.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { withoutBackupSql } from './backup-lock.ts';
import { isDatabaseAway, isStatementTimeout } from './database.ts';
import { type Queryable, statement } from './statement.ts';

const makePartition = statement<[History, string, number]>(
  'partitions.make',
  `SELECT make_partition($1, $2::date, $3) WHERE ${withoutBackupSql}`,
);

/** Looks up all missing months in one statement; at most starts it finds none. */
const findMissing = statement<[string[], readonly History[]], { history: History; month: string }>(
  'partitions.find-missing',
  `SELECT history, month FROM unnest($1::text[]) WITH ORDINALITY AS m (month, month_place),
     unnest($2::text[]) WITH ORDINALITY AS h (history, history_place)
   WHERE to_regclass(history || to_char(month::date, '_YYYY_MM')) IS NULL ORDER BY month_place, history_place`,
);

/**
 * Drops a month of a history with all its rows.
 * @returns false while a backup runs, because the backup still reads the month
 * @throws 55P03 (lock_not_available) if the month is in use
 */
export const dropMonthPartition = statement<[history: History, month: string]>(
  'partitions.drop',
  `SELECT drop_partition($1, $2::date) WHERE ${withoutBackupSql}`,
).hasRow;
const list = statement<[History], { month: string }>(
  'partitions.list',
  `SELECT replace(substring(c.relname FROM '[0-9]{4}_[0-9]{2}$'), '_', '-') || '-01' AS month
   FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = $1::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$' ORDER BY 1`,
);

/** A table that is partitioned by the month in the ids of its rows. */
export type History =
  | 'messages'
  | 'hand_outs'
  | 'media'
  | 'media_chunks'
  | 'events'
  | 'deliveries'
  | 'attempts'
  | 'audit_log';

const histories: readonly History[] = [
  'messages',
  'hand_outs',
  'media',
  'media_chunks',
  'events',
  'deliveries',
  'attempts',
  'audit_log',
];

/**
 * Upper bound on the rows that may move into a new month. Moving them takes about three seconds, less than every lock
 * time-out.
 */
const movedMax = 200_000;

/**
 * Creates the monthly partitions of all histories, from the previous month to two ahead. The previous month takes rows
 * of late clocks and of restores. If a month can't be created, or a backup runs, the next round tries again. Until then
 * the default partition takes the rows, which move when the month is created.
 */
export async function ensurePartitions(db: Queryable, clock: Clock, logger: Logger): Promise<void> {
  const now = clock.now();
  const months = [-1, 0, 1, 2].map((ahead) =>
    monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))),
  );
  for (const { history, month } of await findMissing.rows(db, months, histories)) {
    try {
      if (await createMonthPartition(db, history, month)) continue;
      logger.info('a backup runs: monthly partitions are created in a later round');
      return;
    } catch (error) {
      if (isDatabaseAway(error) && !isStatementTimeout(error)) throw error;
      logger.error(
        { err: error, history, month },
        'creating a monthly partition failed: its rows go to the default partition, and the server retries each hour',
      );
    }
  }
}

/**
 * Creates a month of a history, and moves its rows from the default partition.
 * @param month `2026-11-01`
 * @returns false while a backup runs: the backup reads the history, and writers would wait behind the creation
 */
export async function createMonthPartition(db: Queryable, history: History, month: string): Promise<boolean> {
  return makePartition.hasRow(db, history, month, movedMax);
}

/** The months of a history, oldest first, such as `2026-11-01`. */
export async function listMonthPartitions(db: Queryable, history: History): Promise<string[]> {
  return (await list.rows(db, history)).map(({ month }) => month);
}
