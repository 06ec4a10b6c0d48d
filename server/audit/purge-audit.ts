import { errorCodeOf, isDatabaseAway } from '#server/database/database.ts';
import {
  createMonthPartition,
  dropMonthPartition,
  listMonthPartitions,
} from '#server/database/partitions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { firstIdAt, timeOfId } from '#server/platform/ids/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';

/** Months without a partition that one round handles; the next one continues. */
const monthsMax = 100;

const findInDefaultPartition = statement<{ id: string }>(
  'audit.find-unplaced',
  'SELECT id FROM audit_log_default WHERE id < $1 ORDER BY id LIMIT 1',
);
const findAny = statement<{ id: string }>(
  'audit.find-any',
  'SELECT id FROM audit_log WHERE id >= $1 AND id < $2 LIMIT 1',
);

/**
 * Drops the months of the audit log that are older than AUDIT_DAYS as a whole (specification section 12.6): the
 * database refuses to delete its rows. A month that another transaction reads or writes is left to the next round.
 * @returns how many months were dropped
 */
export async function purgeAudit(
  services: Pick<Runtime, 'database' | 'clock' | 'config' | 'logger'>,
): Promise<number> {
  const { database, clock, config, logger } = services;
  if (config.auditMs === undefined) return 0;
  const bound = monthOf(clock.in(-config.auditMs));
  await movePartitionless(database.pool, bound).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error;
    logger.warn(
      { err: error },
      'moving old entries of the audit log to monthly partitions failed; the server retries',
    );
  });
  // The last month is kept even if it is empty: `ensurePartitions` creates it again each hour.
  const lastMonth = monthOf(new Date(new Date(monthOf(clock.now())).getTime() - 1));
  let dropped = 0;
  for (const month of await listMonthPartitions(database.pool, 'audit_log')) {
    if (month >= bound || (month >= lastMonth && !(await hasEntries(database.pool, month)))) continue;
    try {
      await dropMonthPartition(database.pool, 'audit_log', month);
      dropped += 1;
      logger.info({ month }, 'a month of the audit log was dropped: AUDIT_DAYS have passed');
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      logger.info({ month }, 'a month of the audit log is in use; it is dropped in a later round');
    }
  }
  return dropped;
}

/** Moves rows of the default partition to partitions of their months: restored rows, and those of a wrong clock. */
async function movePartitionless(db: Queryable, bound: string): Promise<void> {
  const boundId = firstIdAt(new Date(bound).getTime());
  for (let months = 0; months < monthsMax; months += 1) {
    const oldest = await findInDefaultPartition.row(db, boundId);
    if (!oldest) return;
    await createMonthPartition(db, 'audit_log', monthOf(timeOfId(oldest.id)));
  }
}

async function hasEntries(db: Queryable, month: string): Promise<boolean> {
  const from = new Date(month);
  return (
    (await findAny.row(db, firstIdAt(from.getTime()), firstIdAt(startOfNextMonth(from).getTime()))) !==
    undefined
  );
}

function isLockTimeout(error: unknown): boolean {
  return errorCodeOf(error) === '55P03';
}
