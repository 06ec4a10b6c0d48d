import { monthOf } from '#server/platform/calendar.ts';
import type { Clock } from '#server/platform/clock.ts';
import { type Queryable, statement } from './statement.ts';

const makePartitions = statement<Record<string, never>>(
  'partitions.make',
  'SELECT make_partitions($1::date)',
);

/**
 * Makes the months of history from the last one to two ahead. The month before is for what late clocks and
 * restored rows bring. Where a month is missing all the same, its rows go to the unplaced partition.
 */
export async function ensurePartitions(db: Queryable, clock: Clock): Promise<void> {
  const now = clock.now();
  for (const ahead of [-1, 0, 1, 2]) {
    await makePartitions.row(
      db,
      monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))),
    );
  }
}
