import { statfs } from 'node:fs/promises';
import { Counter, Gauge } from 'prom-client';
import { gauges, labelledGauges } from '#server/platform/process/metrics.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { schemaVersion } from './apply-schema.ts';
import { query } from './query.ts';
import { findOpenOutage } from './restore-hold.ts';
import { readRetentionLags } from './retention.ts';
import type { Runtime } from './runtime.ts';

const readSize = query<object, { bytes: number }>(
  'database.size',
  'SELECT pg_database_size(current_database()) AS bytes',
).number;

/** The pool of pages commits nothing, so its connections stay free while commits wait for a standby. */
const countWaitingCommits = query<{ before: Date }, { waiting: number }>(
  'database.count-waiting-commits',
  `SELECT count(*) AS waiting FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event = 'SyncRep' AND state_change < :before`,
).number;

/** How long the database's size is cached: to measure it, PostgreSQL asks the file system for each file. */
const sizeCacheMs = 60_000;

/** Registers gauges of this process's version and schema, the database's size, and the space of DATA_DIR. */
export function registerDatabaseMetrics({ config, database, restoreHold, clock, metrics }: Runtime): void {
  new Gauge({
    name: 'ownline_build_info',
    help: 'Always 1; the release of this process and the schema version that it needs are its labels.',
    labelNames: ['version', 'schema'] as const,
    registers: [metrics],
  }).set({ version: productVersion, schema: schemaVersion }, 1);
  gauges({ metrics }, () => database.timeline.highest, {
    ownline_database_timeline: [
      'The highest timeline of the database that this process has seen; each promotion of a standby begins a higher one.',
      Number,
    ],
  });
  new Counter({
    name: 'ownline_older_database_refusals_total',
    help: 'Connections that this process refused, because they led to an older copy of the database or to another cluster.',
    registers: [metrics],
    collect() {
      this.reset();
      this.inc(database.timeline.refusals);
    },
  });
  gauges({ metrics }, () => restoreHold.isHeld, {
    ownline_restore_held: [
      '1 from a restore until a person resumes it: nothing goes out meanwhile. Else 0.',
      Number,
    ],
  });
  gauges({ metrics, clock }, () => findOpenOutage(database.pool), {
    ownline_outage_held: [
      '1 from a failover that may have lost hand-outs until a person resumes: what was queued is held. Else 0.',
      (hold) => (hold ? 1 : 0),
    ],
  });
  const readLags = async () => {
    const lags = await readRetentionLags(database.pool, config, clock.nowMs());
    return Object.fromEntries(lags.map(({ history, lateMs }) => [history, lateMs]));
  };
  labelledGauges({ metrics, clock, label: 'history' }, readLags, {
    ownline_retention_late_seconds: [
      'How far retention is behind RETENTION_DAYS, DELIVERY_LOG_DAYS and AUDIT_DAYS, by history.',
      (lateMs) => lateMs / 1_000,
    ],
  });
  gauges({ metrics, clock, cacheMs: sizeCacheMs }, () => readSize(database.pool), {
    ownline_database_size_bytes: ['Size of the database, read once a minute at most.', Number],
  });
  gauges({ metrics, clock }, () => countWaitingCommits(database.pages, { before: clock.in(-5_000) }), {
    ownline_commits_waiting: [
      'Commits that have waited for a synchronous standby for more than 5 s.',
      Number,
    ],
  });
  gauges({ metrics, clock }, () => statfs(config.dataDir), {
    ownline_data_dir_free_bytes: [
      'Free space of the disk of DATA_DIR, for ordinary users.',
      ({ bavail, bsize }) => bavail * bsize,
    ],
    ownline_data_dir_size_bytes: ['Size of the disk of DATA_DIR.', ({ blocks, bsize }) => blocks * bsize],
  });
}
