import { type ProcessServices, type Slice, sweep } from '#server/database/slice.ts';
import { registerBackupMetrics } from './backup-metrics.ts';
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
