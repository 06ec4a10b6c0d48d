import { monthOf } from '#server/platform/time/calendar.ts';
import { errorCodeOf } from './database.ts';
import { dropMonthPartition, type History, listMonthPartitions } from './partitions.ts';
import type { Runtime } from './runtime.ts';

/** SQLSTATE: PostgreSQL gave up waiting for a lock. */
const lockTimeout = '55P03';

/** The previous month, which is never dropped: `ensurePartitions` would create it again each hour. */
export function lastMonthOf(clock: Pick<Runtime['clock'], 'now'>): string {
  return monthOf(new Date(new Date(monthOf(clock.now())).getTime() - 1));
}

/**
 * Drops months of a history, oldest first. A month that another transaction uses waits for a later round, and so does
 * every month while a backup runs. A drop blocks writers of the history for a short time.
 * @param mayDrop true if all rows of a month may be deleted
 * @param setting the setting with the retention, for the log
 * @returns the number of dropped months, and whether a month that may be dropped is left
 */
export async function dropMonths(
  { database, logger }: Pick<Runtime, 'database' | 'logger'>,
  history: History,
  mayDrop: (month: string) => boolean | Promise<boolean>,
  setting: string,
): Promise<{ readonly dropped: number; readonly isLeft: boolean }> {
  let dropped = 0;
  let isLeft = false;
  for (const month of await listMonthPartitions(database.pool, history)) {
    if (!(await mayDrop(month))) continue;
    try {
      if (!(await dropMonthPartition(database.pool, history, month))) {
        logger.info({ history, month }, 'a backup runs: the month is dropped in a later round');
        return { dropped, isLeft: true };
      }
      dropped += 1;
      logger.info({ history, month }, `a month was dropped: ${setting} have passed`);
    } catch (error) {
      if (errorCodeOf(error) !== lockTimeout) throw error;
      isLeft = true;
      logger.info({ history, month }, 'a month is in use; it is dropped in a later round');
    }
  }
  return { dropped, isLeft };
}
