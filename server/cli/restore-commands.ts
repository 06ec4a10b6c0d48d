import type { Command } from 'commander';
import { recordRestore } from '#server/app/record-restore.ts';
import { type RestoreResult, restoreBackup } from '#server/database/backup/restore-backup.ts';
import { readServiceTime } from '#server/database/clock-store.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { armFailpoint } from '#server/platform/failpoint.ts';
import { explainInput, openInput, readPassphrase } from './backup-input.ts';
import { printResult, withDatabaseUrl } from './command-context.ts';
import { withInterruption } from './interruption.ts';
import { addResumeOptions, type ResumeOptions, resumeOrShow } from './resume-command.ts';
import { TerminalProgress } from './terminal-progress.ts';

interface RestoreOptions extends ResumeOptions {
  readonly passphraseFile?: string;
}

export function addRestoreCommands(program: Command): void {
  const command = program
    .command('restore')
    .description('load a backup into an empty database, or show or end the restore hold')
    .argument('[file]', 'a file that `ownline backup` wrote; - for standard input')
    .option('--passphrase-file <path>', 'the passphrase of an encrypted backup is in this file')
    .option('--json', 'print as JSON', false);
  addResumeOptions(command).action(async (file: string | undefined, options: RestoreOptions) => {
    if ([file !== undefined, options.resume, options.status].filter(Boolean).length !== 1) {
      command.error('Choose one: the file of a backup, --resume, or --status.');
    }
    await (file === undefined ? resumeOrShow(options) : loadFile(file, options));
  });
}

async function loadFile(file: string, options: RestoreOptions): Promise<void> {
  const config = readConfig(loadEnvironment());
  armFailpoint(config.failpoint);
  const passphrase = await readPassphrase(options.passphraseFile);
  const result = await withInterruption(interrupted, (signal, commit) =>
    restore(config, file, passphrase, signal, commit),
  );
  printResult({ file, restored: true, ...result }, options.json);
  if (!options.json) process.stdout.write(`${next}\n`);
}

const interrupted = 'nothing was restored, and the database is as empty as before. Restore again.';

const next =
  'Start Ownline now. Messages, deliveries and mails that waited in the backup go out only after `ownline restore --resume`.';

async function restore(
  config: Config,
  file: string,
  passphrase: string | undefined,
  signal: AbortSignal,
  commit: () => void,
): Promise<RestoreResult> {
  const progress = new TerminalProgress('restoring');
  try {
    return await withDatabaseUrl(
      config,
      true,
      (databaseUrl) =>
        restoreBackup(openInput(file), {
          databaseUrl,
          config,
          passphrase,
          progress,
          signal,
          beforeCommit: commit,
          afterLoad: async (trx, header) =>
            recordRestore(trx, {
              restored_at: await readServiceTime(trx),
              backup_taken_at: new Date(header.taken_at),
              product_version: header.product_version,
              schema_version: header.schema_version,
            }),
        }),
      signal,
    );
  } catch (error) {
    throw explainInput(error, file);
  } finally {
    progress.end();
  }
}
