import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { LastBackups } from '#server/backups/archive/backups-store.ts';
import type { Config } from '#server/platform/config.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { type Check, failed, ok, sizeText, warning } from './check.ts';

/** At this age the latest backup is too old, as in the alert OwnlineBackupOld. */
const oldMs = 36 * 3_600_000;

/**
 * Checks the folder of nightly backups, and how the latest backup ended. It writes nothing. @param last undefined if
 * the database was not read
 */
export async function* checkBackups(
  { backup, dataDir, databaseUrl }: Pick<Config, 'backup' | 'dataDir' | 'databaseUrl'>,
  last: LastBackups | undefined,
  serviceMs: number,
): AsyncGenerator<Check> {
  if (!backup) {
    yield warning(
      'backup',
      'No backup is written each night: BACKUP_DIR is not set.',
      'Set BACKUP_DIR to a folder on another disk (docs/operations.md, "Backup").',
    );
    return;
  }
  const { folder } = backup;
  const problem = await access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: unknown) => errorCodeOf(error) ?? 'unknown error',
  );
  if (problem !== undefined) {
    yield failed(
      'backup_folder',
      `BACKUP_DIR ${folder} can't be written to (${problem}).`,
      'Make the folder, give it to the user of the service, or correct BACKUP_DIR.',
    );
    return;
  }
  yield await checkSpace(folder, last?.success);
  if (databaseUrl === undefined && (await isOnOneDisk(folder, dataDir)))
    yield warning(
      'backup_disk',
      `BACKUP_DIR ${folder} is on the disk of the database: where that disk is lost, so are the backups.`,
      'Choose a folder on another disk, or copy each backup to another machine (docs/operations.md, "Backup").',
    );
  if (last) yield checkLast(last, serviceMs);
}

/** The oldest backup is deleted only after the next one was written, so both have to fit. */
async function checkSpace(folder: string, success: LastBackups['success']): Promise<Check> {
  const space = await statfs(folder);
  const freeBytes = space.bavail * space.bsize;
  const lastBytes = success?.bytes ?? undefined;
  // A sandbox of systemd, such as ProtectSystem, restricts the service but not this command. So only a backup that the
  // service wrote proves that the service may write there.
  const writer =
    success?.file != null && dirname(success.file) === resolve(folder)
      ? 'by the service, whose last backup is there'
      : 'by this command; under systemd the service needs it in ReadWritePaths= of its unit, too';
  const text = `BACKUP_DIR ${folder} can be written to ${writer}. It has ${sizeText(freeBytes)} free`;
  if (lastBytes === undefined) return ok('backup_folder', `${text}.`);
  const compared = `${text}; the last backup has ${sizeText(lastBytes)}.`;
  const fix = 'Free space on its disk, lower BACKUP_KEEP, or choose another folder.';
  if (freeBytes < lastBytes) return failed('backup_folder', `${compared} The next one does not fit.`, fix);
  return freeBytes < 2 * lastBytes ? warning('backup_folder', compared, fix) : ok('backup_folder', compared);
}

async function isOnOneDisk(folder: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([folder, other].map((path) => stat(path).catch(() => undefined)));
  return one !== undefined && two !== undefined && one.dev === two.dev;
}

function checkLast({ latest, success }: LastBackups, serviceMs: number): Check {
  const fix = 'Look into the log of the service; it tries again every 30 minutes.';
  if (!latest) {
    return warning(
      'backup',
      'No nightly backup has ended yet.',
      'Run a process with the role maintain, and wait.',
    );
  }
  if (latest.error !== null) {
    return warning('backup', `The last nightly backup failed: ${latest.error}`, fix);
  }
  const at = success?.started_at ?? latest.started_at;
  const text = `The last nightly backup is of ${at.toISOString()}`;
  return serviceMs - at.getTime() > oldMs
    ? warning('backup', `${text}, which is more than 36 hours ago.`, 'Run a process with the role maintain.')
    : ok('backup', `${text}, ${checkedText(success?.unproved ?? null)}`);
}

function checkedText(unproved: string | null): string {
  return unproved === null
    ? 'was read back, and was loaded into an empty database.'
    : `and was read back. ${unproved}`;
}
