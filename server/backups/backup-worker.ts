import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { ExistingFileError, OtherBackupError } from '#server/backups/archive/backup-error.ts';
import { writeNewFile } from '#server/backups/archive/backup-file.ts';
import { readPassphraseFile } from '#server/backups/archive/backup-seal.ts';
import { checkBackup } from '#server/backups/archive/check-backup.ts';
import { createBackup } from '#server/backups/archive/create-backup.ts';
import { type BackupOrder, type BackupOutcome, failedBackup, steadyNowMs } from './run-backup-worker.ts';

/** Runs in the thread of a nightly backup: writes the file, and checks it before the file gets its final name. */
async function run(order: BackupOrder): Promise<BackupOutcome> {
  try {
    const { databaseUrl, dataDir, serviceOffsetMs, passphraseFile, folder, name } = order;
    const passphrase = passphraseFile === undefined ? undefined : await readPassphraseFile(passphraseFile);
    const serviceTime = () => new Date(steadyNowMs() + serviceOffsetMs);
    const file = join(folder, name);
    let unproved: string | null = null;
    const { bytes } = await writeNewFile(
      file,
      (destination) =>
        createBackup(
          {
            databaseUrl,
            dataDir,
            passphrase,
            secretsKey: Buffer.from(order.secretsKey, 'base64'),
            serviceTime,
          },
          destination,
        ),
      async (partial) => {
        const open = () => createReadStream(partial);
        ({ unproved } = await checkBackup(open, { passphrase, scratch: order.scratch, now: serviceTime() }));
      },
    );
    return { file, bytes, error: null, unproved };
  } catch (error) {
    // Another process runs a backup, or has written a backup in the same second. Then this run is not recorded.
    if (error instanceof OtherBackupError || error instanceof ExistingFileError) return 'other_runs';
    return failedBackup(error);
  }
}

parentPort?.postMessage(await run(workerData as BackupOrder));
