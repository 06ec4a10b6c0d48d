import type { BackupState } from '#server/database/backup/backups-store.ts';

const hour = 3_600_000;
const nightHour = 3;
const nightHours = 3;
/** If the latest backup is older, a night was missed: the next backup begins at once instead of in the next night. */
const lateMs = 26 * hour;
const retryMs = hour / 2;

/**
 * Whether a backup is due. From 03:00 to 06:00, in the time zone of the process, a backup is due if none was made since
 * 03:00. At any time it is due if the latest one is older than 26 hours. A failed backup is repeated after half an
 * hour.
 */
export function isBackupDue({ success_at, failure_at, is_failing }: BackupState, now: Date): boolean {
  if (is_failing && failure_at && now.getTime() - failure_at.getTime() < retryMs) return false;
  if (!success_at || now.getTime() - success_at.getTime() > lateMs) return true;
  const night = new Date(now.getTime());
  night.setHours(nightHour, 0, 0, 0);
  const sinceMs = now.getTime() - night.getTime();
  return sinceMs >= 0 && sinceMs < nightHours * hour && success_at < night;
}
