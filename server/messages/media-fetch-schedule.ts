/** The pauses between the tries of a fetch (specification section 3.2). */
const pausesMs = [10_000, 60_000] as const;

/**
 * Claims of a fetch whose process died before their outcome was written. That many fail the message, so that a file that
 * kills the process is not fetched for ever.
 */
export const mediaLostClaimsMax = 20;

export const mediaRetryPauseMaxMs = Math.max(...pausesMs);

/** Returns the pause before the next try; undefined after the last one. @param tries tries so far */
export function mediaRetryPauseMs(tries: number): number | undefined {
  return pausesMs[tries - 1];
}
