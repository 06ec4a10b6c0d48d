import { Registry } from 'prom-client';

/** What this process counts, for GET /metrics. Each slice registers its own figures where it makes them. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}
