import { Gauge, Registry } from 'prom-client';
import type { Clock } from '#server/platform/time/clock.ts';

/** The metrics of this process, for GET /metrics. Each slice registers its own. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}

/**
 * Registers a gauge that is read for each request of /metrics. If reading the gauge fails, the other metrics are still
 * served.
 */
export function addGauge(metrics: Metrics, name: string, help: string, read: () => Promise<number>): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    async collect() {
      this.set(await read().catch(() => Number.NaN));
    },
  });
}

/** Default cache time of metrics from the database: more frequent scrapes share one result. */
const usualCacheMs = 5_000;

/** Runs one query for all metrics that it yields, and caches its result. A failure is not cached. */
export function cachedQuery<T>(
  clock: Clock,
  query: () => Promise<T>,
  cacheMs = usualCacheMs,
): () => Promise<T> {
  let known: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    if (!known || clock.elapsedMs() - known.at > cacheMs) {
      known = { at: clock.elapsedMs(), result: query() };
      known.result.catch(() => {
        known = undefined;
      });
    }
    return known.result;
  };
}

/** Age of a time in seconds; 0 without a time. */
export function ageSeconds(clock: Clock, since: Date | null | undefined): number {
  return since ? Math.max(0, clock.nowMs() - since.getTime()) / 1_000 : 0;
}
