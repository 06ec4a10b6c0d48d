import { statfs } from 'node:fs/promises';
import { Gauge } from 'prom-client';
import { addGauge, cachedQuery } from '#server/platform/process/metrics.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { readRetentionLags } from './retention.ts';
import type { Runtime } from './runtime.ts';
import { schemaVersion } from './schema-version.ts';
import { statement } from './statement.ts';

const selectSize = statement<[], { readonly bytes: number }>(
  'database.size',
  'SELECT pg_database_size(current_database()) AS bytes',
);

/** How long the database's size is cached: to measure it, PostgreSQL asks the file system for each file. */
const sizeCacheMs = 60_000;

/** Registers gauges of this process's version and schema, the database's size, and the space of DATA_DIR. */
export function registerDatabaseMetrics({
  config,
  database,
  restoreHold,
  clock,
  metrics,
}: Pick<Runtime, 'config' | 'database' | 'restoreHold' | 'clock' | 'metrics'>): void {
  new Gauge({
    name: 'ownline_build_info',
    help: 'Always 1; the release of this process and the schema version that it needs are its labels.',
    labelNames: ['version', 'schema'] as const,
    registers: [metrics],
  }).set({ version: productVersion, schema: schemaVersion }, 1);
  addGauge(
    metrics,
    'ownline_restore_held',
    '1 from a restore until a person resumes it: nothing goes out meanwhile. Else 0.',
    async () => (restoreHold.isHeld ? 1 : 0),
  );
  const lags = cachedQuery(clock, () => readRetentionLags(database.pool, config, clock.nowMs()));
  new Gauge({
    name: 'ownline_retention_late_seconds',
    help: 'How far retention is behind RETENTION_DAYS, DELIVERY_LOG_DAYS and AUDIT_DAYS, by history.',
    labelNames: ['history'] as const,
    registers: [metrics],
    async collect() {
      for (const { history, lateMs } of await lags().catch(() => [])) this.set({ history }, lateMs / 1_000);
    },
  });
  const size = cachedQuery(clock, () => selectSize.row(database.pool), sizeCacheMs);
  addGauge(
    metrics,
    'ownline_database_size_bytes',
    'Size of the database, read once a minute at most.',
    async () => (await size())?.bytes ?? Number.NaN,
  );
  const space = cachedQuery(clock, () => statfs(config.dataDir));
  addGauge(
    metrics,
    'ownline_data_dir_free_bytes',
    'Free space of the disk of DATA_DIR, for ordinary users.',
    async () => {
      const { bavail, bsize } = await space();
      return bavail * bsize;
    },
  );
  addGauge(metrics, 'ownline_data_dir_size_bytes', 'Size of the disk of DATA_DIR.', async () => {
    const { blocks, bsize } = await space();
    return blocks * bsize;
  });
}
