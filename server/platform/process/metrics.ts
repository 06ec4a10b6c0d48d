import { Gauge, Registry } from 'prom-client';
import type { Clock } from '#server/platform/time/clock.ts';

/** This process's metrics, for GET /metrics. Each slice registers its own figures where it makes them. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}

/** Registers a gauge that is read for each /metrics. If that fails, the other figures are still read. */
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

/** How long a query's figures are cached: scrapes that are more frequent see the same ones. */
const cacheMs = 5_000;

/** Runs one query for all figures that it yields, and caches it. A failure is not cached. */
export function cachedQuery<T>(clock: Clock, query: () => Promise<T>): () => Promise<T> {
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

/** Age in seconds; 0 without a time. */
export function ageSeconds(clock: Clock, since: Date | null | undefined): number {
  return since ? Math.max(0, clock.nowMs() - since.getTime()) / 1_000 : 0;
}
