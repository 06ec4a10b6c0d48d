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
      help: 'Rows of a shared batch: sends, claims, reports, or polls that were looked up.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    }),
    againRows: new Counter({
      ...shared,
      name: 'ownline_batch_again_rows_total',
      help: 'Rows that go into a later batch, because another transaction has locked or changed them.',
    }),
    aloneRows: new Counter({
      ...shared,
      name: 'ownline_batch_alone_rows_total',
      help: 'Rows that ran in a transaction of their own.',
    }),
    rollbacks: new Counter({
      ...shared,
      name: 'ownline_batch_rollbacks_total',
      help: 'Batches that were rolled back, so that their rows ran again, by team or alone.',
    }),
  };
}
