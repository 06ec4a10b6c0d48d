import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Single flight with a cache: callers share the running query, and for `ttlMs` after its end also its result or
 * failure. The query therefore runs at most once per `ttlMs`, however many callers there are.
 */
export function singleFlightQuery<T>(
  clock: Pick<Clock, 'elapsedMs'>,
  ttlMs: number,
  query: () => Promise<T>,
): () => Promise<T> {
  let latest: { readonly result: Promise<T>; endedAtMs: number } | undefined;
  return () => {
    if (latest && clock.elapsedMs() - latest.endedAtMs < ttlMs) return latest.result;
    const current = { result: query(), endedAtMs: Number.POSITIVE_INFINITY };
    const end = () => {
      current.endedAtMs = clock.elapsedMs();
    };
    current.result.then(end, end);
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
