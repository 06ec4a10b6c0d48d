import { readBackupState, readRunningSeconds } from '#server/backups/archive/backups-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { gauges } from '#server/platform/process/metrics.ts';

/**
 * Registers gauges of the nightly backup: its last success and failure (0 means never), and how long a running one has
 * read (specification section 10.4).
 */
export function registerBackupMetrics({ database, clock, metrics }: Runtime): void {
  gauges({ metrics, clock }, () => readBackupState(database.pool), {
    ownline_backup_last_success_timestamp_seconds: [
      'When the newest nightly backup that succeeded began, in Unix time; 0 where there is none.',
      ({ success_at }) => (success_at?.getTime() ?? 0) / 1_000,
    ],
    ownline_backup_last_failure_timestamp_seconds: [
      'When a nightly backup last failed, in Unix time; 0 where none did.',
      ({ failure_at }) => (failure_at?.getTime() ?? 0) / 1_000,
    ],
  });
  gauges({ metrics, clock }, () => readRunningSeconds(database.pool), {
    ownline_backup_running_seconds: [
      'How long a backup of this database has been reading, by hand or nightly; 0 where none does.',
      Number,
    ],
  });
}
