import { Counter, Histogram } from 'prom-client';
import type { Metrics } from '#server/platform/process/metrics.ts';

const registered = new WeakMap<Metrics, ReturnType<typeof register>>();

/**
 * Returns the metrics that all group commits of a process share (specification section 10.4). The first call registers
 * them.
 */
export function batchMetricsOf(metrics: Metrics): ReturnType<typeof register> {
  const known = registered.get(metrics) ?? register(metrics);
  registered.set(metrics, known);
  return known;
}

function register(metrics: Metrics) {
  const shared = { labelNames: ['batch'] as const, registers: [metrics] };
  return {
    size: new Histogram({
      ...shared,
      name: 'ownline_batch_size',
      help: 'Rows of a shared batch: sends, claims, reports, texts, or polls that were looked up.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    }),
    skippedRows: new Counter({
      ...shared,
      name: 'ownline_batch_skipped_rows_total',
      help: 'Rows that a batch left out and that ran after it: locked or changed by another transaction, or in need of a transaction of their own.',
    }),
    rollbacks: new Counter({
      ...shared,
      name: 'ownline_batch_rollbacks_total',
      help: 'Batches that were rolled back, so that each of their rows ran alone.',
    }),
  };
}
