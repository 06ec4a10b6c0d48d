/** Computes when the fixed window of a time began. Windows of the same length follow each other since 1970. */
export function windowStartMs(nowMs: number, windowMs: number): number {
  return Math.floor(nowMs / windowMs) * windowMs;
}

/** Computes the whole seconds until the fixed window of a time ends, for retry-after; at least 1. */
export function windowSecondsLeft(nowMs: number, windowMs: number): number {
  return Math.ceil((windowStartMs(nowMs, windowMs) + windowMs - nowMs) / 1_000);
}
