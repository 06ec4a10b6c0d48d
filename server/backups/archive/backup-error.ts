import { StartError } from '#server/platform/start-error.ts';

/**
 * Thrown if a backup can't be written, read or restored for a reason that the operator can remove. The message says
 * how.
 */
export class BackupError extends StartError {}

/** Thrown while another backup, restore or migration of the database is running. */
export class OtherBackupError extends BackupError {
  constructor(cause: unknown) {
    super(
      'Another backup, restore or migration of this database is running. Try again when it has ended.',
      cause,
    );
  }
}

/** Thrown if the backup file exists already: a backup never replaces a file. */
export class ExistingFileError extends BackupError {
  constructor(path: string) {
    super(`${path} exists already, and a backup never replaces a file. Choose another name.`);
  }
}

export class DamagedBackupError extends BackupError {
  constructor(detail: string, cause?: unknown) {
    super(
      `The backup is damaged: ${detail}. Take another copy of the file, or an older backup. Nothing of it was used.`,
      cause,
    );
  }
}
