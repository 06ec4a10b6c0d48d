import { readBackupState, readRunningSeconds } from '#server/database/backup/backups-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { addGauge, cachedQuery } from '#server/platform/process/metrics.ts';

/**
 * Registers gauges of the nightly backup: its last success and failure (0 means never), and how long a running one has
 * read (specification section 10.4).
 */
export function registerBackupMetrics({
  database,
  clock,
  metrics,
}: Pick<Runtime, 'database' | 'clock' | 'metrics'>): void {
  const state = cachedQuery(clock, () => readBackupState(database.pool));
  addGauge(
    metrics,
    'ownline_backup_last_success_timestamp_seconds',
    'When the newest nightly backup that succeeded began, in Unix time; 0 where there is none.',
    async () => ((await state()).success_at?.getTime() ?? 0) / 1_000,
  );
  addGauge(
    metrics,
    'ownline_backup_last_failure_timestamp_seconds',
    'When a nightly backup last failed, in Unix time; 0 where none did.',
    async () => ((await state()).failure_at?.getTime() ?? 0) / 1_000,
  );
  addGauge(
    metrics,
    'ownline_backup_running_seconds',
    'How long a backup of this database has been reading, by hand or nightly; 0 where none does.',
    cachedQuery(clock, () => readRunningSeconds(database.pool)),
  );
}
