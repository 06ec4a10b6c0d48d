import { isDatabaseAway } from '#server/database/database.ts';
import { dropMonths, lastMonthOf } from '#server/database/drop-months.ts';
import { createMonthPartition } from '#server/database/partitions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { firstIdAt, timeOfId } from '#server/platform/ids/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';

/** Upper bound on the months that one round creates partitions for; the next round continues. */
const monthsMax = 100;

const findInDefaultPartition = statement<[string], { id: string }>(
  'audit.find-unplaced',
  'SELECT id FROM audit_log_default WHERE id < $1 ORDER BY id LIMIT 1',
);
const findAny = statement<[string, string]>(
  'audit.find-any',
  'SELECT id FROM audit_log WHERE id >= $1 AND id < $2 LIMIT 1',
);

/**
 * Retention of the audit log (specification section 12.6): drops whole months that are older than AUDIT_DAYS, because
 * the database refuses to delete single rows. A month that another transaction reads or writes waits for the next
 * round.
 * @returns the number of dropped months
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
  const lastMonth = lastMonthOf(clock);
  // An empty newest partition stays, because the server would create it again each hour.
  const mayDrop = async (month: string) =>
    month < bound && (month < lastMonth || (await hasEntries(database.pool, month)));
  return (await dropMonths(services, 'audit_log', mayDrop, 'AUDIT_DAYS')).dropped;
}

/**
 * Moves rows from the default partition to partitions of their months. Such rows come from a restore or from a wrong
 * clock.
 */
async function movePartitionless(db: Queryable, bound: string): Promise<void> {
  const boundId = firstIdAt(new Date(bound).getTime());
  for (let months = 0; months < monthsMax; months += 1) {
    const oldest = await findInDefaultPartition.row(db, boundId);
    if (!oldest) return;
    if (!(await createMonthPartition(db, 'audit_log', monthOf(timeOfId(oldest.id))))) return;
  }
}

async function hasEntries(db: Queryable, month: string): Promise<boolean> {
  const from = new Date(month);
  return findAny.hasRow(db, firstIdAt(from.getTime()), firstIdAt(startOfNextMonth(from).getTime()));
}
