import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Single flight with a cache: callers share the running query, and after its end also its result for `ttlMs`, or its
 * failure for `failureTtlMs`. The query therefore runs at most once in that time, however many callers there are.
 */
export function singleFlightQuery<T>(
  clock: Pick<Clock, 'elapsedMs'>,
  ttlMs: number,
  query: () => Promise<T>,
  failureTtlMs = ttlMs,
): () => Promise<T> {
  let latest: { readonly result: Promise<T>; keptUntilMs: number } | undefined;
  return () => {
    if (latest && clock.elapsedMs() < latest.keptUntilMs) return latest.result;
    const current = { result: query(), keptUntilMs: Number.POSITIVE_INFINITY };
    const keepFor = (ms: number) => () => {
      current.keptUntilMs = clock.elapsedMs() + ms;
    };
    current.result.then(keepFor(ttlMs), keepFor(failureTtlMs));
    latest = current;
    return current.result;
  };
}

/** Calls `make` at the first call; all callers share its result. After a failure the next call makes it again. */
export function makeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
