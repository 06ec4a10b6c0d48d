/** What is known when an attempt has failed. */
export interface FailedAttempt {
  /** Of this round, 1 to 4. */
  readonly attempt: number;
  readonly firstStartedAt: Date;
  readonly startedAt: Date;
}

/**
 * When the next attempt begins (specification section 6.3): at the first one's start and its offset, and never sooner
 * than the gap between the two offsets after the start of the attempt before, so that a late one delays what follows.
 * @param offsetsMs of all attempts of a round, the first being 0
 * @returns undefined after the last one
 */
export function nextAttemptAt(
  offsetsMs: readonly number[],
  { attempt, firstStartedAt, startedAt }: FailedAttempt,
): Date | undefined {
  const before = offsetsMs[attempt - 1];
  const next = offsetsMs[attempt];
  if (before === undefined || next === undefined) return undefined;
  return new Date(Math.max(firstStartedAt.getTime() + next, startedAt.getTime() + next - before));
}
