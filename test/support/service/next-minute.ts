import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Moves a clock into its next minute, half a second late, so that a test does not share a minute with another. The
 * delay is needed because limits in memory count minutes from the process's start, and clock corrections have shifted
 * the time since.
 * @param secondsLeft longest remaining time of that minute
 */
export function nextMinute(clock: Clock, secondsLeft = 60): void {
  clock.advance(60_500 - (clock.nowMs() % 60_000) + (60 - secondsLeft) * 1_000);
}
