import type { Runtime } from '#server/database/runtime.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { windowSecondsLeft, windowStartMs } from '#server/platform/time/fixed-window.ts';

interface CounterRow {
  readonly subject: Buffer;
  readonly hits: number;
}

const increment = statement<[readonly Buffer[], Date], CounterRow>(
  'throttle.increment',
  `INSERT INTO throttle_counters AS f (subject, window_start, hits)
   SELECT s, $2::timestamptz, 1 FROM unnest($1::bytea[]) AS s ORDER BY s
   ON CONFLICT (subject, window_start) DO UPDATE SET hits = f.hits + 1
   RETURNING subject, hits`,
);
const lock = transactionStatement<[readonly Buffer[], Date]>(
  'throttle.lock',
  `SELECT FROM throttle_counters WHERE subject = ANY($1::bytea[]) AND window_start = $2
   ORDER BY subject FOR UPDATE`,
);
const decrement = transactionStatement<[readonly Buffer[], Date]>(
  'throttle.decrement',
  `MERGE INTO throttle_counters AS f USING unnest($1::bytea[]) AS s ON f.subject = s AND f.window_start = $2
   WHEN MATCHED AND f.hits > 1 THEN UPDATE SET hits = f.hits - 1
   WHEN MATCHED THEN DELETE`,
);

/** Deletes counters of windows that begin after a time, because the clock was ahead when they were counted. */
export const purgeWindowsAhead = statement<[after: Date]>(
  'throttle-counters.purge-ahead',
  'DELETE FROM throttle_counters WHERE window_start > $1',
).run;

interface CountedWindow {
  /** The counters' values, in the order of `names`. */
  readonly counts: readonly number[];
  /** SHA-256 of each name. */
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
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
  { clock }: Pick<Runtime, 'clock'>,
  names: readonly string[],
  windowMs = hourMs,
): Promise<CountedWindow> {
  const nowMs = clock.nowMs();
  const windowStart = new Date(windowStartMs(nowMs, windowMs));
  const subjects = names.map(sha256);
  const rows = await increment.rows(db, subjects, windowStart);
  const counts = subjects.map((subject) => rows.find((row) => row.subject.equals(subject))?.hits ?? 0);
  return { counts, subjects, windowStart, secondsLeft: windowSecondsLeft(nowMs, windowMs) };
}

/** Subtracts one from the counter of each subject. Rows are locked in the order of subjects. */
export async function decrementCounters(
  trx: Transaction,
  subjects: readonly Buffer[],
  windowStart: Date,
): Promise<void> {
  await lock.run(trx, subjects, windowStart);
  await decrement.run(trx, subjects, windowStart);
}
