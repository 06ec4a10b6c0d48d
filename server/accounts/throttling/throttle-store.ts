import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';

interface CounterRow {
  readonly subject: Buffer;
  readonly hits: number;
}

const increment = statement<CounterRow>(
  'throttle.increment',
  `INSERT INTO throttle_counters AS f (subject, window_start, hits)
   SELECT s, $2::timestamptz, 1 FROM unnest($1::bytea[]) AS s ORDER BY s
   ON CONFLICT (subject, window_start) DO UPDATE SET hits = f.hits + 1
   RETURNING subject, hits`,
);
const lock = statement<Record<string, never>>(
  'throttle.lock',
  `SELECT FROM throttle_counters WHERE subject = ANY($1::bytea[]) AND window_start = $2
   ORDER BY subject FOR UPDATE`,
);
const decrement = statement<Record<string, never>>(
  'throttle.decrement',
  `MERGE INTO throttle_counters AS f USING unnest($1::bytea[]) AS s ON f.subject = s AND f.window_start = $2
   WHEN MATCHED AND f.hits > 1 THEN UPDATE SET hits = f.hits - 1
   WHEN MATCHED THEN DELETE`,
);
const purge = statement<Record<string, never>>(
  'throttle.purge',
  'DELETE FROM throttle_counters WHERE window_start <= $1',
);
const purgeAhead = statement<Record<string, never>>(
  'throttle-counters.purge-ahead',
  'DELETE FROM throttle_counters WHERE window_start > $1',
);

/**
 * Throttle: adds one to the counter of each subject in the window that begins at `windowStart`. Rows are locked in the
 * order of subjects.
 * @param subjects SHA-256 of each subject
 * @returns the counts, in the order of `subjects`
 */
export async function incrementCounters(
  db: Queryable,
  subjects: readonly Buffer[],
  windowStart: Date,
): Promise<number[]> {
  const rows = await increment.rows(db, subjects, windowStart);
  return subjects.map((subject) => rows.find((row) => row.subject.equals(subject))?.hits ?? 0);
}

/** Subtracts one from the counter of each subject. Rows are locked in the order of subjects. */
export async function decrementCounters(
  trx: Transaction,
  subjects: readonly Buffer[],
  windowStart: Date,
): Promise<void> {
  await lock.rows(trx, subjects, windowStart);
  await decrement.row(trx, subjects, windowStart);
}

/** Deletes windows that begin after a time: they were counted while the clock was ahead. */
export async function purgeWindowsAhead(db: Queryable, after: Date): Promise<void> {
  await purgeAhead.row(db, after);
}

/** Deletes windows that began at `startedBefore` or earlier. */
export async function purgeWindows(db: Queryable, startedBefore: Date): Promise<void> {
  await purge.row(db, startedBefore);
}
