import type pg from 'pg';
import { Histogram } from 'prom-client';
import { labelledGauges, type Metrics } from '#server/platform/process/metrics.ts';
import { wrapConnect } from './seek-connection.ts';

/**
 * Registers gauges of the pools' connections and waiting callers, and a histogram of how long callers wait for a
 * connection (specification section 10.4). The wait includes seeking and opening a new connection.
 */
export function measurePools(metrics: Metrics, pools: Readonly<Record<string, pg.Pool>>): void {
  labelledGauges({ metrics, label: 'pool' }, () => pools, {
    ownline_pool_connections: [
      'Connections to the database that a pool of this process has.',
      (pool) => pool.totalCount,
    ],
    ownline_pool_connections_max: [
      'Connections to the database that a pool may have.',
      (pool) => pool.options.max,
    ],
    ownline_pool_waiting: ['Callers that wait for a connection.', (pool) => pool.waitingCount],
  });
  const waits = new Histogram({
    name: 'ownline_pool_wait_seconds',
    help: 'How long a caller waited for a connection, also where it got none.',
    labelNames: ['pool'] as const,
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5],
    registers: [metrics],
  });
  for (const [name, pool] of Object.entries(pools)) {
    const series = waits.labels({ pool: name });
    wrapConnect(pool, (connect, callback) => {
      const startedMs = performance.now();
      connect((...answer) => {
        series.observe((performance.now() - startedMs) / 1_000);
        callback(...answer);
      });
    });
  }
}
