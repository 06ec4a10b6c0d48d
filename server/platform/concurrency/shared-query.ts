import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Single flight with a cache: calls share the look that runs, and its result, a failure included, until it is `retentionMs` old.
 * A look that nobody may cause more often than that, whoever asks.
 */
export function sharedQuery<T>(
  clock: Pick<Clock, 'elapsedMs'>,
  keptMs: number,
  look: () => Promise<T>,
): () => Promise<T> {
  let latest: { readonly result: Promise<T>; endedAtMs: number } | undefined;
  return () => {
    if (latest && clock.elapsedMs() - latest.endedAtMs < keptMs) return latest.result;
    const current = { result: look(), endedAtMs: Number.POSITIVE_INFINITY };
    const end = () => {
      current.endedAtMs = clock.elapsedMs();
    };
    current.result.then(end, end);
    latest = current;
    return current.result;
  };
}
