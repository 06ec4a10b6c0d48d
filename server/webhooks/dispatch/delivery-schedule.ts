/** The facts about a failed attempt that decide when the next one begins. */
export interface FailedAttempt {
  /** The number of the attempt since the delivery became pending, 1 to 4. */
  readonly attempt: number;
  readonly firstStartedAt: Date;
  readonly startedAt: Date;
}

/**
 * Backoff of deliveries (specification section 6.3): an attempt begins at its offset from the start of the first
 * attempt. The pause after the previous attempt is at least the difference of their offsets, so that a late attempt
 * delays the next one.
 * @param offsetsMs the offsets of all attempts, beginning with 0
 * @returns undefined after the last attempt
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
