import type pg from 'pg';
import { Histogram } from 'prom-client';
import { labelledGauges, type Metrics } from '#server/platform/process/metrics.ts';

/**
 * Registers gauges of the pools' connections and waiting callers, and a histogram of how long callers wait for a
 * connection (specification section 10.4). The wait includes opening a new connection.
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
    measure(pool, (ms) => series.observe(ms / 1_000));
  }
}

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

/** A pool's `query` calls `connect` with a callback; transactions call it without one. */
function measure(pool: pg.Pool, observe: (ms: number) => void): void {
  const connect = pool.connect.bind(pool);
  const measured = (callback?: ConnectCallback): unknown => {
    const startedMs = performance.now();
    if (callback === undefined) return connect().finally(() => observe(performance.now() - startedMs));
    return connect((error, client, release) => {
      observe(performance.now() - startedMs);
      callback(error, client, release);
    });
  };
  pool.connect = measured as pg.Pool['connect'];
}
