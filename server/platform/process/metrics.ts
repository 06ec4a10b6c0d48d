import { Gauge, Registry } from 'prom-client';
import { singleFlightQuery } from '#server/platform/concurrency/single-flight-query.ts';
import type { Clock } from '#server/platform/time/clock.ts';

/** The metrics of this process, for GET /metrics. Each slice registers its own metrics. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}

/** Where gauges are registered. With a clock, requests of /metrics within `cacheMs` share one result of `read`. */
interface Registration {
  readonly metrics: Metrics;
  readonly clock?: Clock;
  readonly cacheMs?: number;
}

/** Gauges by name: the help text, and a function that picks the value from the result of `read`. */
type Gauges<Read, Value = number> = Readonly<
  Record<string, readonly [help: string, value: (read: Read) => Value]>
>;

/**
 * Registers gauges that are read for a request of /metrics. If reading them fails, they are NaN, and the other metrics
 * are still served.
 */
export function gauges<Read>(
  registration: Registration,
  read: () => Read | Promise<Read>,
  declared: Gauges<Read>,
): void {
  const readOnce = cached(registration, read);
  for (const [name, [help, value]] of Object.entries(declared))
    new Gauge({
      name,
      help,
      registers: [registration.metrics],
      async collect() {
        this.set(await readOnce().then(value, () => Number.NaN));
      },
    });
}

/**
 * Registers gauges with a series for each value of a label. If reading them fails, the series of the values in `fixed`
 * are NaN.
 * @param read returns, by the value of the label, the data of each series
 * @param declared if its function returns undefined, the series is left out
 */
export function labelledGauges<Read>(
  registration: Registration & { readonly label: string; readonly fixed?: readonly string[] },
  read: () => Readonly<Record<string, Read>> | Promise<Readonly<Record<string, Read>>>,
  declared: Gauges<Read, number | undefined>,
): void {
  const { metrics, label, fixed = [] } = registration;
  const readOnce = cached(registration, read);
  for (const [name, [help, value]] of Object.entries(declared))
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [metrics],
      async collect() {
        const known = await readOnce().catch(() => undefined);
        for (const of of known ? Object.keys(known) : fixed) {
          const figure = known ? value(known[of] as Read) : Number.NaN;
          if (figure !== undefined) this.set({ [label]: of }, figure);
        }
      },
    });
}

/** Default cache time of metrics from the database, and of every failure: more frequent scrapes share one result. */
const usualCacheMs = 5_000;

/** Makes several metrics share one result of `read`. */
function cached<T>(
  { clock, cacheMs = usualCacheMs }: Registration,
  read: () => T | Promise<T>,
): () => Promise<T> {
  const readAll = async () => read();
  return clock ? singleFlightQuery(clock, cacheMs, readAll, Math.min(cacheMs, usualCacheMs)) : readAll;
}

/** Age of a time in seconds; 0 without a time. */
export function ageSeconds(clock: Clock, since: Date | null | undefined): number {
  return since ? Math.max(0, clock.nowMs() - since.getTime()) / 1_000 : 0;
}
