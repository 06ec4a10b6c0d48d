/** The facts about a failed attempt that its successor's time depends on. */
export interface FailedAttempt {
  /** Number of the attempt in this round, 1 to 4. */
  readonly attempt: number;
  readonly firstStartedAt: Date;
  readonly startedAt: Date;
}

/**
 * Backoff of deliveries (specification section 6.3): an attempt begins at the start of the first one plus its offset.
 * It keeps the gap between the two offsets to the attempt before, so a late attempt delays those that follow.
 * @param offsetsMs the offsets of all attempts of a round, the first being 0
 * @returns undefined after the last one
 */
export function nextDeliveryAttemptAt(
  offsetsMs: readonly number[],
  { attempt, firstStartedAt, startedAt }: FailedAttempt,
): Date | undefined {
  const before = offsetsMs[attempt - 1];
  const next = offsetsMs[attempt];
  if (before === undefined || next === undefined) return undefined;
  return new Date(Math.max(firstStartedAt.getTime() + next, startedAt.getTime() + next - before));
}
