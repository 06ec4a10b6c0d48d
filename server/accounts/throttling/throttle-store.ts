import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable, Transaction } from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { windowSecondsLeft, windowStartMs } from '#server/platform/time/fixed-window.ts';

interface CounterRow {
  readonly subject: Buffer;
  readonly hits: number;
}

interface Subjects {
  /** SHA-256 of each name. */
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
}

const increment = query<Subjects, CounterRow>(
  'throttle.increment',
  `INSERT INTO throttle_counters AS f (subject, window_start, hits)
   SELECT s, :windowStart::timestamptz, 1 FROM unnest(:subjects::bytea[]) AS s ORDER BY s
   ON CONFLICT (subject, window_start) DO UPDATE SET hits = f.hits + 1
   RETURNING subject, hits`,
).rows;
const lock = transactionQuery<Subjects>(
  'throttle.lock',
  `SELECT FROM throttle_counters WHERE subject = ANY(:subjects::bytea[]) AND window_start = :windowStart
   ORDER BY subject FOR UPDATE`,
).run;
const decrement = transactionQuery<Subjects>(
  'throttle.decrement',
  `MERGE INTO throttle_counters AS f USING unnest(:subjects::bytea[]) AS s ON f.subject = s AND f.window_start = :windowStart
   WHEN MATCHED AND f.hits > 1 THEN UPDATE SET hits = f.hits - 1
   WHEN MATCHED THEN DELETE`,
).run;

/** Deletes counters of windows that begin after a time, because the clock was ahead when they were counted. */
export const purgeWindowsAhead = query<{ after: Date }>(
  'throttle-counters.purge-ahead',
  'DELETE FROM throttle_counters WHERE window_start > :after',
).run;

export interface CountedWindow extends Subjects {
  /** The counters' values, in the order of `names`. */
  readonly counts: readonly number[];
  /** Whole seconds until the window ends, for retry-after. */
  readonly secondsLeft: number;
}

const hourMs = 3_600_000;

/**
 * Throttle: adds one to the counter of each subject in the current window, which is an hour unless `windowMs` says
 * otherwise. Rows are locked in the order of subjects.
 */
export async function countInWindow(
  db: Queryable,
  { clock }: Runtime,
  names: readonly string[],
  windowMs = hourMs,
): Promise<CountedWindow> {
  const nowMs = clock.nowMs();
  const windowStart = new Date(windowStartMs(nowMs, windowMs));
  const subjects = names.map(sha256);
  const rows = await increment(db, { subjects, windowStart });
  const counts = subjects.map((subject) => rows.find((row) => row.subject.equals(subject))?.hits ?? 0);
  return { counts, subjects, windowStart, secondsLeft: windowSecondsLeft(nowMs, windowMs) };
}

/** Subtracts one from the counter of each subject. Rows are locked in the order of subjects. */
export async function decrementCounters(trx: Transaction, counted: CountedWindow): Promise<void> {
  await lock(trx, counted);
  await decrement(trx, counted);
}
