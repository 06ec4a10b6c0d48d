import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { windowSecondsLeft, windowStartMs } from '#server/platform/time/fixed-window.ts';
import { incrementCounters } from './throttle-store.ts';

interface CountedWindow {
  /** The counters' values, in the order of `subjects`. */
  readonly counts: readonly number[];
  /** SHA-256 of each subject. */
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
  /** Whole seconds until the window ends, for retry-after. */
  readonly secondsLeft: number;
}

const hourMs = 3_600_000;

/** Throttle: counts once for each subject in the current window, which is an hour unless `windowMs` says otherwise. */
export async function countInWindow(
  db: Queryable,
  { clock }: Pick<Runtime, 'clock'>,
  names: readonly string[],
  windowMs = hourMs,
): Promise<CountedWindow> {
  const nowMs = clock.nowMs();
  const windowStart = new Date(windowStartMs(nowMs, windowMs));
  const subjects = names.map(sha256);
  const counts = await incrementCounters(db, subjects, windowStart);
  return { counts, subjects, windowStart, secondsLeft: windowSecondsLeft(nowMs, windowMs) };
}
