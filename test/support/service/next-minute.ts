import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Moves a clock into its next minute, so that a test has a minute of its own. It lands half a second late. Limits in
 * memory count their minutes from the start of the process, and a correction of the clock since then shifts the two.
 * @param secondsLeft how many seconds of the minute are left then, at most
 */
export function nextMinute(clock: Clock, secondsLeft = 60): void {
  clock.advance(60_500 - (clock.nowMs() % 60_000) + (60 - secondsLeft) * 1_000);
}
