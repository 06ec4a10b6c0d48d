import { monthOf } from '#server/platform/calendar.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import { errorCodeOf, isDatabaseAway } from './database.ts';
import { type Queryable, statement } from './statement.ts';

const makePartition = statement<Record<string, never>>(
  'partitions.make',
  'SELECT make_partition($1, $2::date, $3)',
);

const histories = ['messages', 'hand_outs', 'events', 'deliveries', 'attempts', 'audit_log'];

/** As many rows are moved in about three seconds, which is less than anybody waits for a lock before giving up. */
const movedMax = 200_000;

/**
 * Makes the months of history from the last one to two ahead. The month before is for what late clocks and
 * restored rows bring. Where a month was missing, its rows went to the unplaced partition; they move into it now. One
 * that can't be made is logged and left to the next round: its rows have a place, and the others are not kept waiting.
 */
export async function ensurePartitions(db: Queryable, clock: Clock, logger: Logger): Promise<void> {
  const now = clock.now();
  for (const ahead of [-1, 0, 1, 2]) {
    const month = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)));
    for (const history of histories) {
      try {
        await makePartition.row(db, history, month, movedMax);
      } catch (error) {
        if (isDatabaseAway(error) && !isTimeout(error)) throw error;
        logger.error(
          { err: error, history, month },
          'a month of history could not be made: its rows go to the unplaced partition, and it is tried again each hour',
        );
      }
    }
  }
}

/** PostgreSQL gave the statement up and stands by for the next. */
function isTimeout(error: unknown): boolean {
  return errorCodeOf(error) === '57014';
}
