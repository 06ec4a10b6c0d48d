import type { PacingPolicy } from '#server/numbers/pacing-policy.ts';

/** Input for the estimate of a message's hand-out. Times are milliseconds since 1970. */
export interface PacedQueue {
  readonly nowMs: number;
  readonly policy: PacingPolicy;
  /** Messages ahead that need no new conversation, except those that strict pacing holds back until a reply. */
  readonly ahead: number;
  /**
   * Under strict pacing, one entry for each new contact of the messages ahead. It counts the messages that follow the
   * one that opens the contact's conversation.
   */
  readonly openingsAhead: readonly number[];
  /** How many conversations of `openingsAhead` must open first: all, or those up to the message's own contact. */
  readonly openingsNeeded: number;
  /** Whether the message itself opens a conversation under strict pacing. */
  readonly isOpening: boolean;
  /** The times of the number's latest hand-outs, oldest first: enough to check its limits per hour and day. */
  readonly handedOutAtMs: readonly number[];
  /**
   * The times at which the number opened its latest conversations, oldest first: enough to check its limits of new
   * contacts.
   */
  readonly openedAtMs: readonly number[];
  /** The end of the current gap between two messages; a past time means now. */
  readonly gapUntilMs: number;
}

const hourMs = 3_600_000;

/**
 * Estimates when pacing lets a message go (specification section 4.3). The estimate assumes gaps of the mean length,
 * and that a message waiting for a new conversation lets the others pass. Reports, replies and other messages may
 * change it.
 */
export function expectedAt(queue: PacedQueue): number {
  const { policy, openingsAhead } = queue;
  const gapMs = 500 * (policy.gap_min_seconds + policy.gap_max_seconds);
  const sent = [...queue.handedOutAtMs];
  const opened = [...queue.openedAtMs];
  let { ahead } = queue;
  let openings = 0;
  let nextMs = Math.max(queue.nowMs, queue.gapUntilMs);
  for (;;) {
    const atMs = Math.max(nextMs, freeAtMs(sent, policy.messages_per_hour, policy.messages_per_day));
    const opensAtMs = freeAtMs(opened, policy.new_contacts_per_hour, policy.new_contacts_per_day);
    if (openings < openingsAhead.length && opensAtMs <= atMs) {
      ahead += openingsAhead[openings] ?? 0;
      openings += 1;
      opened.push(atMs);
    } else if (ahead > 0) ahead -= 1;
    else if (openings < queue.openingsNeeded) {
      nextMs = opensAtMs;
      continue;
    } else return queue.isOpening ? Math.max(atMs, opensAtMs) : atMs;
    sent.push(atMs);
    nextMs = atMs + gapMs;
  }
}

/** The earliest time at which the limits per hour and day allow one more hand-out. @param timesMs oldest first */
function freeAtMs(timesMs: readonly number[], perHour: number, perDay: number): number {
  return Math.max(
    (timesMs.at(-perHour) ?? -Infinity) + hourMs,
    (timesMs.at(-perDay) ?? -Infinity) + 24 * hourMs,
  );
}
