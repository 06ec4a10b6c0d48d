import type { Logger } from '#server/platform/process/logger.ts';
import { monthOf } from '#server/platform/time/calendar.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { isDatabaseAway, isStatementTimeout } from './database.ts';
import { type Queryable, statement } from './statement.ts';

const makePartition = statement<Record<string, never>>(
  'partitions.make',
  'SELECT make_partition($1, $2::date, $3)',
);

/** Most starts find every month: one look instead of a statement for each. */
const findMissing = statement<{ history: History; month: string }>(
  'partitions.find-missing',
  `SELECT history, month FROM unnest($1::text[]) WITH ORDINALITY AS m (month, month_place),
     unnest($2::text[]) WITH ORDINALITY AS h (history, history_place)
   WHERE to_regclass(history || to_char(month::date, '_YYYY_MM')) IS NULL ORDER BY month_place, history_place`,
);

const dropPartition = statement<Record<string, never>>(
  'partitions.drop',
  'SELECT drop_partition($1, $2::date)',
);
const list = statement<{ month: string }>(
  'partitions.list',
  `SELECT replace(substring(c.relname FROM '[0-9]{4}_[0-9]{2}$'), '_', '-') || '-01' AS month
   FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = $1::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$' ORDER BY 1`,
);

type History =
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

/** Moving this many rows takes about three seconds, which is shorter than every lock time-out. */
const movedMax = 200_000;

/**
 * Creates the months of history from the last one to two ahead. The month before takes rows of late clocks and of
 * restores. Rows of a missing month went to the default partition; they move into the new one. A month that can't be
 * created is logged and left to the next round. The default partition takes its rows, and the other months are
 * created.
 */
export async function ensurePartitions(db: Queryable, clock: Clock, logger: Logger): Promise<void> {
  const now = clock.now();
  const months = [-1, 0, 1, 2].map((ahead) =>
    monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))),
  );
  for (const { history, month } of await findMissing.rows(db, months, histories)) {
    try {
      await createMonthPartition(db, history, month);
    } catch (error) {
      if (isDatabaseAway(error) && !isStatementTimeout(error)) throw error;
      logger.error(
        { err: error, history, month },
        'creating a monthly partition failed: its rows go to the default partition, and the server retries each hour',
      );
    }
  }
}

/** Creates a month of a history, and moves rows of the default partition into it. @param month `2026-11-01` */
export async function createMonthPartition(db: Queryable, history: History, month: string): Promise<void> {
  await makePartition.row(db, history, month, movedMax);
}

/** The months that a history has, oldest first: `2026-11-01`. */
export async function listMonthPartitions(db: Queryable, history: History): Promise<string[]> {
  return (await list.rows(db, history)).map(({ month }) => month);
}

/** Drops all rows of a month. @throws 55P03 where it is in use */
export async function dropMonthPartition(db: Queryable, history: History, month: string): Promise<void> {
  await dropPartition.row(db, history, month);
}
