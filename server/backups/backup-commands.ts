import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { Database } from '#server/database/database.ts';
import { withDatabaseUrl } from '#server/database/database-url.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { EngineError } from '#server/database/engine/engine-error.ts';
import { loadSecretsKey } from '#server/database/secrets-key.ts';
import { initializeClock } from '#server/database/start-clock.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { armFailpoint } from '#server/platform/failpoint.ts';
import { withInterruption } from '#server/platform/process/interruption.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { printResult } from '#server/platform/process/print-result.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { BackupError } from './archive/backup-error.ts';
import { writeNewFile } from './archive/backup-file.ts';
import { checkBackup, externalDatabase, type ScratchServer } from './archive/check-backup.ts';
import { type BackupResult, createBackup } from './archive/create-backup.ts';
import { explainInput, openInput, readPassphrase, TerminalProgress } from './backup-input.ts';

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
    .option('--verify', 'read an existing backup back, and load it into a scratch database', false)
    .option('--json', 'print as JSON', false)
    .action(async (file: string, options: BackupOptions) => {
      const config = readConfig(loadEnvironment());
      armFailpoint(config.failpoint);
      const passphrase = await readPassphrase(options.passphraseFile);
      const [work, outcome] = options.verify ? [verify, notVerified] : [backUp, interrupted(file)];
      const done = await withInterruption(outcome, (signal) => work(config, file, passphrase, signal));
      const result = { file, ...done };
      // Standard output gets the backup, so the result goes to standard error.
      if (file === '-' && !options.verify) process.stderr.write(`${JSON.stringify(result)}\n`);
      else printResult(result, options.json);
      if (!options.verify && !result.encrypted) process.stderr.write(`${notEncrypted}\n`);
    });
}

const notVerified = 'the backup was not checked to its end. Run the command again.';

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
        const database = new Database({ databaseUrl, logger: createLogger('error') });
        try {
          const clock = new Clock();
          await initializeClock(database.pool, clock);
          const secretsKey = await loadSecretsKey(database.pool, config);
          const { dataDir } = config;
          const serviceTime = () => clock.now();
          const source = { databaseUrl, secretsKey, dataDir, passphrase, serviceTime, progress, signal };
          const write = (destination: Writable) => createBackup(source, destination);
          return await (file === '-' ? write(standardOutput()) : writeNewFile(file, write));
        } finally {
          await database.close();
        }
      },
      signal,
    );
  } finally {
    progress.end();
  }
}

async function verify(config: Config, file: string, passphrase: string | undefined, signal: AbortSignal) {
  const progress = new TerminalProgress('checking');
  try {
    const scratch = await findScratchServer(config, file);
    const options = { passphrase, scratch, progress, signal };
    const { result, unproved } = await checkBackup(() => openInput(file), options);
    // `not_proved` is a sentence; null if all of the backup was loaded into an empty database.
    return { verified: true, loaded: unproved === null, not_proved: unproved, ...result };
  } catch (error) {
    throw explainInput(error, file);
  } finally {
    progress.end();
  }
}

/** Finds the running embedded PostgreSQL, and starts none: one that can't start may be why a restore is needed. */
async function findScratchServer({ databaseUrl, dataDir }: Config, file: string): Promise<ScratchServer> {
  if (file === '-') return { reason: 'standard input is read once only' };
  if (databaseUrl !== undefined) return { reason: externalDatabase };
  return findEngineUrl(dataDir).then(
    (engineUrl) => ({ databaseUrl: engineUrl, dataDir }),
    (error: unknown) => {
      if (error instanceof EngineError)
        return { reason: `no embedded PostgreSQL that this user may open is running in DATA_DIR ${dataDir}` };
      throw error;
    },
  );
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
