import type { PacingPolicy } from '#server/numbers/pacing-policy.ts';

/** What the estimate of a hand-out is made from. Times are milliseconds since 1970. */
export interface PacedQueue {
  readonly nowMs: number;
  readonly policy: PacingPolicy;
  /** Messages of the number that are ahead. */
  readonly ahead: number;
  /** The latest hand-outs of the number, oldest first: as many as its windows allow. */
  readonly handedOutAtMs: readonly number[];
  /** The end of the gap that runs; the past is now. */
  readonly gapUntilMs: number;
  /** When strict pacing lets the number open its next conversation, for a message that opens one; the past is now. */
  readonly newContactsUntilMs: number;
}

const hourMs = 3_600_000;

/**
 * Estimates when pacing lets a message go (specification section 4.3): the messages ahead go with gaps of the mean
 * length, as soon as each window allows. Reports, replies and other conversations may change it.
 */
export function expectedAt(queue: PacedQueue): number {
  const { policy, nowMs, ahead } = queue;
  const gapMs = 500 * (policy.gap_min_seconds + policy.gap_max_seconds);
  const times = [...queue.handedOutAtMs];
  let nextMs = Math.max(nowMs, queue.gapUntilMs);
  for (let position = 0; ; position += 1) {
    const hourFreeMs = (times.at(-policy.messages_per_hour) ?? -Infinity) + hourMs;
    const dayFreeMs = (times.at(-policy.messages_per_day) ?? -Infinity) + 24 * hourMs;
    nextMs = Math.max(nextMs, hourFreeMs, dayFreeMs);
    if (position === ahead) return Math.max(nextMs, queue.newContactsUntilMs);
    times.push(nextMs);
    nextMs += gapMs;
  }
}
