import { clockSettleMs, clockStepMinMs, expiryClockAheadMaxMs } from './limits.ts';

interface ClockComparison {
  /** The service's time at the moment of the comparison. */
  readonly ownMs: number;
  /** The reading of the database's clock at that moment, and the maximum of its error. */
  readonly databaseMs: number;
  readonly uncertaintyMs: number;
  /** The service's time minus the database's clock, as last known: 0, or the difference after a held step. */
  readonly heldMs: number;
  /** How long ago the clock last stepped; undefined if it did not. */
  readonly steadyMs: number | undefined;
}

export type ClockClassification =
  /** The clock is steady: the service's time is corrected to `timeMs`. */
  | { readonly kind: 'steady'; readonly timeMs: number }
  /**
   * The clock stepped: the service keeps its own time, which now differs by `heldMs`; 0 if the clock stepped back to
   * it.
   */
  | { readonly kind: 'stepped'; readonly heldMs: number }
  /** The clock was steady for long enough after a step: the step is followed. */
  | { readonly kind: 'settled' };

/** Clock step: classifies one comparison of the service's time with the database's clock (decision 0020). */
export function classifyClockStep({
  ownMs,
  databaseMs,
  uncertaintyMs,
  heldMs,
  steadyMs,
}: ClockComparison): ClockClassification {
  const expectedMs = databaseMs + heldMs;
  if (Math.abs(expectedMs - ownMs) > clockStepMinMs + uncertaintyMs) {
    const apartMs = Math.round(ownMs - databaseMs);
    return { kind: 'stepped', heldMs: Math.abs(apartMs) <= clockStepMinMs ? 0 : apartMs };
  }
  if (steadyMs !== undefined && steadyMs >= clockSettleMs) return { kind: 'settled' };
  return { kind: 'steady', timeMs: expectedMs };
}

/** True if a step pauses expiry: the database's clock is too far ahead. */
export function shouldPauseExpiry(heldMs: number): boolean {
  return heldMs < -expiryClockAheadMaxMs;
}
