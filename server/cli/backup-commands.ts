import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { openRuntime } from '#server/app/open-runtime.ts';
import { BackupError } from '#server/database/backup/backup-error.ts';
import { writeNewFile } from '#server/database/backup/backup-file.ts';
import { type BackupResult, createBackup } from '#server/database/backup/create-backup.ts';
import { verifyBackup } from '#server/database/backup/verify-backup.ts';
import { loadSecretsKey } from '#server/database/secrets-key.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { armFailpoint } from '#server/platform/failpoint.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { explainInput, openInput, readPassphrase } from './backup-input.ts';
import { printResult, withDatabaseUrl } from './command-context.ts';
import { withInterruption } from './interruption.ts';
import { TerminalProgress } from './terminal-progress.ts';

interface BackupOptions {
  readonly passphraseFile?: string;
  readonly verify: boolean;
  readonly json: boolean;
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write everything into one file, while the server runs: database, media, secrets key')
    .argument('<file>', 'a file that does not exist yet; - for standard output')
    .option('--passphrase-file <path>', 'encrypt it with the passphrase in this file')
    .option('--verify', 'read an existing backup back, without a database', false)
    .option('--json', 'print as JSON', false)
    .action(async (file: string, options: BackupOptions) => {
      const config = readConfig(loadEnvironment());
      armFailpoint(config.failpoint);
      const passphrase = await readPassphrase(options.passphraseFile);
      const result = options.verify
        ? { file, verified: true, ...(await verify(file, passphrase)) }
        : {
            file,
            ...(await withInterruption(interrupted(file), (signal) =>
              backUp(config, file, passphrase, signal),
            )),
          };
      // Standard output gets the backup, so the result goes to standard error.
      if (file === '-' && !options.verify) process.stderr.write(`${JSON.stringify(result)}\n`);
      else printResult(result, options.json);
      if (!options.verify && !result.encrypted) process.stderr.write(`${notEncrypted}\n`);
    });
}

function interrupted(file: string): string {
  return file === '-'
    ? 'the backup is not complete. Delete what its reader got, and run the backup again.'
    : 'no backup was written, and no partial file remains. Run the backup again.';
}

const notEncrypted =
  'The backup is not encrypted, and the secrets key is in it: keep it as safe as the server itself, or encrypt it with ' +
  '--passphrase-file.';

async function backUp(
  config: Config,
  file: string,
  passphrase: string | undefined,
  signal: AbortSignal,
): Promise<BackupResult> {
  const progress = new TerminalProgress('backing up');
  try {
    return await withDatabaseUrl(
      config,
      false,
      async (databaseUrl) => {
        // The schema is not migrated, because a backup may be taken before an upgrade.
        const runtime = await openRuntime(config, databaseUrl, createLogger('error'));
        try {
          const secretsKey = await loadSecretsKey(runtime.database.pool, config);
          const { dataDir } = config;
          const serviceTime = () => runtime.clock.now();
          const source = { databaseUrl, secretsKey, dataDir, passphrase, serviceTime, progress, signal };
          const write = (destination: Writable) => createBackup(source, destination);
          return await (file === '-' ? write(standardOutput()) : writeNewFile(file, write));
        } finally {
          await runtime.database.close();
        }
      },
      signal,
    );
  } finally {
    progress.end();
  }
}

async function verify(file: string, passphrase: string | undefined): Promise<BackupResult> {
  const progress = new TerminalProgress('reading');
  try {
    return await verifyBackup(openInput(file), passphrase, progress);
  } catch (error) {
    throw explainInput(error, file);
  } finally {
    progress.end();
  }
}

/**
 * Standard output as a stream that is not closed at the end. If the reader closes the pipe early, the backup fails,
 * because the reader's copy is incomplete.
 */
function standardOutput(): Writable {
  if (process.stdout.isTTY) {
    throw new BackupError(
      'A backup is binary data, which a terminal can’t show. Name a file, or pipe the output of `-` into a program.',
    );
  }
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => undefined);
  return new Writable({
    write: (bytes, _encoding, done) => void process.stdout.write(bytes, done),
  });
}
