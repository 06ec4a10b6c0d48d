import { clockSettleMs, clockStepMinMs, expiryClockAheadMaxMs } from './limits.ts';

interface ClockComparison {
  /** The service's time when it was compared with the database's clock. */
  readonly ownMs: number;
  /** The database's clock at the moment of `ownMs`, and the maximum error of that reading. */
  readonly databaseMs: number;
  readonly uncertaintyMs: number;
  /** The service's time minus the database's clock, as last known: 0, or the difference after a held step. */
  readonly heldMs: number;
  /** Time since the database's clock last stepped; undefined without a step. */
  readonly steadyMs: number | undefined;
}

export type ClockClassification =
  /** The database's clock runs steadily: the service's time is corrected to `timeMs`. */
  | { readonly kind: 'steady'; readonly timeMs: number }
  /**
   * The database's clock stepped: the service keeps its own time, which now differs by `heldMs`. 0 means that the clock
   * stepped back to the service's time.
   */
  | { readonly kind: 'stepped'; readonly heldMs: number }
  /** The database's clock was steady for long enough after a step, so the service's time follows the step. */
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

/** True if the database's clock is so far ahead that nothing may expire until the step is resolved. */
export function shouldPauseExpiry(heldMs: number): boolean {
  return heldMs < -expiryClockAheadMaxMs;
}
