const minute = 60_000;
const hour = 60 * minute;

/** Backoff of mail: the offsets of its attempts from the first one (specification section 10.6). */
export const attemptOffsetsMs: readonly number[] = [
  0,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
];

/** A mail without an attempt for this long is given up: its links have expired. */
export const staleMs = 48 * hour;

/**
 * Returns the time of the next attempt. Its gap is counted from the attempt that failed, so late attempts keep their
 * distance.
 * @param attempts how many there were, the failed one included
 * @param startedAt when the failed one began
 * @returns undefined where that was the last
 */
export function nextMailAttemptAt(attempts: number, startedAt: Date): Date | undefined {
  const [last, next] = attemptOffsetsMs.slice(attempts - 1, attempts + 1);
  return last === undefined || next === undefined ? undefined : new Date(startedAt.getTime() + next - last);
}
