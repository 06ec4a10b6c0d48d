/**
 * The rules about steps of the database's clock (decision 0020). A clock that keeps time differs from another by
 * milliseconds a minute: what differs by more than this was set.
 */
export const smallestStepMs = 10_000;

/** How long a clock has to stand after a step before the step is followed. */
export const standsMs = 600_000;

/** How far ahead a clock may be without a doubt about what has expired. */
export const aheadMaxMs = 300_000;

interface Compared {
  /** The service's time at the moment of the comparison. */
  readonly ownMs: number;
  /** What the database's clock said then, and by how much that may be wrong. */
  readonly databaseMs: number;
  readonly uncertaintyMs: number;
  /** The service's time less the database's clock, as far as it is known: 0, or a step that is not followed. */
  readonly heldMs: number;
  /** How long ago the clock last stepped; undefined where it did not. */
  readonly stoodMs: number | undefined;
}

export type ClockVerdict =
  /** The clock keeps time: the service's is corrected to this. */
  | { readonly is: 'steady'; readonly timeMs: number }
  /** It was set: the service keeps its own time, which differs by this from now on; 0 where it was set right again. */
  | { readonly is: 'stepped'; readonly heldMs: number }
  /** It has stood for long enough after a step: the step is to be followed. */
  | { readonly is: 'settled' };

/** Classifies one comparison of the service's time with the database's clock. */
export function classifyClockStep({
  ownMs,
  databaseMs,
  uncertaintyMs,
  heldMs,
  stoodMs,
}: Compared): ClockVerdict {
  const expectedMs = databaseMs + heldMs;
  if (Math.abs(expectedMs - ownMs) > smallestStepMs + uncertaintyMs) {
    const apartMs = Math.round(ownMs - databaseMs);
    return { is: 'stepped', heldMs: Math.abs(apartMs) <= smallestStepMs ? 0 : apartMs };
  }
  if (stoodMs !== undefined && stoodMs >= standsMs) return { is: 'settled' };
  return { is: 'steady', timeMs: expectedMs };
}

/** Whether a step holds expiry back: the database's clock went ahead by more than a little. */
export function isDoubtful(heldMs: number): boolean {
  return heldMs < -aheadMaxMs;
}
