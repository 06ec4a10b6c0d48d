import type { Runtime } from '#server/database/runtime.ts';
import { type ProcessServices, type Slice, sweep } from '#server/database/slice.ts';
import { gauges } from '#server/platform/process/metrics.ts';
import { readLastBackups, readRunningSeconds } from './archive/backups-store.ts';
import { NightlyBackup } from './nightly-backup.ts';

/** The nightly backup, if BACKUP_DIR is set. */
export function openBackups(services: ProcessServices): Slice {
  const backup = new NightlyBackup(services, services.databaseUrl);
  registerBackupMetrics(services);
  return {
    jobs: services.config.backup
      ? [sweep('maintain', 'back up each night', 60_000, 'keeps', () => backup.round())]
      : [],
    drain: { name: 'nightly backup', run: () => backup.stop() },
  };
}

/**
 * Registers gauges of the nightly backup: its last success and failure (0 means never), and how long a running one has
 * read (specification section 10.4).
 */
function registerBackupMetrics({ database, clock, metrics }: Runtime): void {
  gauges({ metrics, clock }, () => readLastBackups(database.pool), {
    ownline_backup_last_success_timestamp_seconds: [
      'When the newest nightly backup that succeeded began, in Unix time; 0 where there is none.',
      ({ success }) => (success?.started_at.getTime() ?? 0) / 1_000,
    ],
    ownline_backup_last_failure_timestamp_seconds: [
      'When a nightly backup last failed, in Unix time; 0 where none did.',
      ({ failure }) => (failure?.finished_at.getTime() ?? 0) / 1_000,
    ],
  });
  gauges({ metrics, clock }, () => readRunningSeconds(database.pool), {
    ownline_backup_running_seconds: [
      'How long a backup of this database has been reading, by hand or nightly; 0 where none does.',
      Number,
    ],
  });
}
