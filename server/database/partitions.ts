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

/** One look-up instead of a statement per month: most starts find every month. */
const findMissing = statement<[string[], readonly History[]], { history: History; month: string }>(
  'partitions.find-missing',
  `SELECT history, month FROM unnest($1::text[]) WITH ORDINALITY AS m (month, month_place),
     unnest($2::text[]) WITH ORDINALITY AS h (history, history_place)
   WHERE to_regclass(history || to_char(month::date, '_YYYY_MM')) IS NULL ORDER BY month_place, history_place`,
);

/**
 * Drops a month of a history with all its rows.
 * @returns false while a backup runs, which still reads it
 * @throws 55P03 if it is in use
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

/** Rows that may move into a new month: moving them takes about three seconds, less than every lock time-out. */
const movedMax = 200_000;

/**
 * Creates the months of all histories, from the last one to two ahead. Last month takes rows of late clocks and of
 * restores. A month that can't be created, or any while a backup runs, is left to the next round. Until then the
 * default partition takes its rows, which move when the month is created.
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
 * @returns false while a backup runs: it reads the history, and writers would wait behind this
 */
export async function createMonthPartition(db: Queryable, history: History, month: string): Promise<boolean> {
  return makePartition.hasRow(db, history, month, movedMax);
}

/** The months of a history, oldest first, such as `2026-11-01`. */
export async function listMonthPartitions(db: Queryable, history: History): Promise<string[]> {
  return (await list.rows(db, history)).map(({ month }) => month);
}
