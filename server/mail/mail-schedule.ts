const minute = 60_000;
const hour = 60 * minute;

/** Backoff of mail: the times of the attempts, relative to the first one (specification section 10.6). */
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

/** Age at which a waiting mail is given up, because the links in it have expired. */
export const staleMs = 48 * hour;

/**
 * Returns the time of the next attempt. The delay counts from the failed attempt, so that late attempts keep the same
 * delay.
 * @param attempts the number of attempts so far, the failed one included
 * @param startedAt the start of the failed attempt
 * @returns undefined after the last attempt
 */
export function nextMailAttemptAt(attempts: number, startedAt: Date): Date | undefined {
  const [last, next] = attemptOffsetsMs.slice(attempts - 1, attempts + 1);
  return last === undefined || next === undefined ? undefined : new Date(startedAt.getTime() + next - last);
}
