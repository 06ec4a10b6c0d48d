import { StartError } from '#server/platform/start-error.ts';

/** A backup can't be written, read or restored for a reason that the operator can remove; the message says how. */
export class BackupError extends StartError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'BackupError';
  }
}

/** Another backup, restore or migration of the database runs. */
export class OtherBackupError extends BackupError {
  constructor(cause: unknown) {
    super(
      'Another backup, restore or migration of this database runs. Repeat this when it has ended.',
      cause,
    );
    this.name = 'OtherBackupError';
  }
}

/** A file of the name exists, which no backup replaces. */
export class ExistingFileError extends BackupError {
  constructor(path: string) {
    super(`${path} exists, and no backup replaces a file. Choose another name.`);
    this.name = 'ExistingFileError';
  }
}

/** Any byte of the file is another one than was written, or is missing. */
export class DamagedBackupError extends BackupError {
  constructor(detail: string, cause?: unknown) {
    super(
      `The backup is damaged: ${detail}. Take another copy of the file, or an older backup. Nothing of it was used.`,
      cause,
    );
    this.name = 'DamagedBackupError';
  }
}
