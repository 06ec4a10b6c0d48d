import type { Runtime } from '#server/database/runtime.ts';
import { commandLine } from '#server/platform/process/command-line.ts';

/** Logs at start that a restore hold is on, and how to end it (specification section 10.8). */
export function logRestoreHold({ restoreHold, logger }: Runtime): void {
  const { restore } = restoreHold;
  if (!restore) return;
  logger.warn(
    { restored: restore.restored_at, backup: restore.backup_taken_at },
    `restored from the backup of ${restore.backup_taken_at.toISOString()}: messages, deliveries and mails that waited in it are held. ` +
      `To let them go, run \`${commandLine} restore --resume\`, or use the button in the dashboard.`,
  );
}
