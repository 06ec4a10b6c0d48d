const minute = 60_000;
const hour = 60 * minute;

/** When a mail is tried, counted from its first attempt (specification section 10.6). */
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

/** What nobody could even try for so long is not sent any more: the links in it are over. */
export const staleMs = 48 * hour;

/**
 * When to try again. The gap to the next attempt is counted from the one that failed, so that attempts that came late
 * do not crowd.
 * @param attempts how many there were, the failed one included
 * @param startedAt when the failed one began
 * @returns undefined where that was the last
 */
export function nextAttemptAt(attempts: number, startedAt: Date): Date | undefined {
  const [last, next] = attemptOffsetsMs.slice(attempts - 1, attempts + 1);
  return last === undefined || next === undefined ? undefined : new Date(startedAt.getTime() + next - last);
}
