import { statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { createClient } from '#server/database/create-client.ts';
import { walFreeMinBytes } from '#server/database/data-dir.ts';
import { isDatabaseAway } from '#server/database/database.ts';
import { administratorUrl, siblingUrl } from '#server/database/engine/engine-connection.ts';
import { errorCodeOf, messageOf } from '#server/platform/error-code.ts';
import { BackupError } from './backup-error.ts';
import type { Progress } from './backup-format.ts';
import { BackupReader } from './backup-reader.ts';
import { checkSessionName } from './backups-store.ts';
import { type BackupResult, connectForBackup } from './create-backup.ts';
import { loadBackup } from './load-backup.ts';
import { verifyBackup } from './verify-backup.ts';

/** The embedded PostgreSQL that loads a backup on trial, or the reason why there is none, as a clause. */
export type ScratchServer =
  | { readonly databaseUrl: string; readonly dataDir: string }
  | { readonly reason: string };

/** Why there is no scratch database with DATABASE_URL: its role may not make one, and its server may have no room. */
export const externalDatabase =
  'only the embedded PostgreSQL makes a scratch database, and DATABASE_URL is set';

export interface CheckedBackup {
  readonly result: BackupResult;
  /** A sentence about what was not proved; null if all rows were loaded into an empty database. */
  readonly unproved: string | null;
}

interface CheckOptions {
  readonly passphrase: string | undefined;
  readonly scratch: ScratchServer;
  readonly progress?: Progress;
  /** The latest time at which the backup may have been taken; by default this machine's time. */
  readonly now?: Date;
  /** Aborts the check, which then fails. */
  readonly signal?: AbortSignal;
}

/** Free space that a load leaves to the service on the same disk. */
const reservedBytes = 10 * walFreeMinBytes;

/** Thrown if a load on trial ends for a reason that is not in the backup. The message is a clause. */
class NotLoadedError extends Error {}

/**
 * Checks a backup: reads it wholly, and then loads it into a scratch database, if there is an embedded PostgreSQL with
 * enough space. The load is rolled back.
 * @param open opens the file; called up to twice
 * @throws BackupError if the backup is damaged, or a database refuses its rows
 */
export async function checkBackup(open: () => Readable, options: CheckOptions): Promise<CheckedBackup> {
  const { passphrase, scratch, progress, now } = options;
  const { result, rowBytes } = await verifyBackup(open(), passphrase, progress, now);
  const reason = 'reason' in scratch ? scratch.reason : await loadOnTrial(open, scratch, rowBytes, options);
  return {
    result,
    unproved: reason === undefined ? null : `It was not loaded into a database, because ${reason}.`,
  };
}

/** @returns why the backup was not loaded, as a clause; undefined if it was */
async function loadOnTrial(
  open: () => Readable,
  { databaseUrl, dataDir }: Extract<ScratchServer, { databaseUrl: string }>,
  rowBytes: number,
  options: CheckOptions,
): Promise<string | undefined> {
  const neededBytes = 2 * rowBytes + reservedBytes;
  const freeBytes = await readFreeBytes(dataDir);
  if (freeBytes < neededBytes) {
    return `the disk of DATA_DIR has ${megabytes(freeBytes)} MB free, and loading it takes ${megabytes(neededBytes)} MB`;
  }
  const refuseFullDisk = async () => {
    if ((await readFreeBytes(dataDir)) < reservedBytes) throw new NotLoadedError(fullDisk);
  };
  const { signal } = options;
  try {
    const outcome = await withScratchDatabase(databaseUrl, async (scratchUrl) => ({
      reason: await load(open(), scratchUrl, options, refuseFullDisk).then(
        () => undefined,
        (error: unknown) => reasonOf(error, signal),
      ),
    }));
    return outcome ? outcome.reason : 'another check of a backup runs';
  } catch (error) {
    if (signal?.aborted || error instanceof BackupError) throw error;
    return `the embedded PostgreSQL offers no scratch database (${messageOf(error)})`;
  }
}

async function load(
  input: Readable,
  scratchUrl: string,
  { passphrase, progress, now, signal }: CheckOptions,
  beforeCopy: () => Promise<void>,
): Promise<void> {
  const client = await connectForBackup(scratchUrl, checkSessionName, signal);
  try {
    const reader = await BackupReader.open(input, passphrase, now);
    await client.query('BEGIN');
    await loadBackup(client, reader, { progress, beforeCopy });
  } finally {
    // Closing the connection ends its transaction.
    input.destroy();
    await client.end().catch(() => undefined);
  }
}

const fullDisk = 'the disk of DATA_DIR became full';

/** @returns why a load ended, as a clause @throws BackupError if the reason is in the backup */
function reasonOf(error: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted();
  if (error instanceof NotLoadedError) return error.message;
  if (errorCodeOf(error) === '53100') return fullDisk;
  if (isDatabaseAway(error)) return 'the embedded PostgreSQL ended the connection; its log says why';
  // Any other failure, such as of the disk, says nothing about the file.
  const isRefusal = error instanceof BackupError || /^(22|23|42)/.test(errorCodeOf(error) ?? '');
  if (!isRefusal) return `the load failed (${messageOf(error)})`;
  throw new BackupError(
    `The backup was read back, but a restore would refuse it. ${messageOf(error)} If no program changed the data, report this ` +
      'to the authors of Ownline. `ownline backup FILE` writes a file all the same.',
    error,
  );
}

async function readFreeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

/** The name is fixed, so that the next run finds the scratch database that a killed run left. */
const scratchName = 'ownline_backup_check';

/** Advisory lock of the scratch database, in the database `postgres`. The number is arbitrary. */
const scratchLock = 7_061_726_404;
const scratchLockTimeout = '2s';

/**
 * Runs work with an empty scratch database of the embedded PostgreSQL, and drops it afterwards. If a process is killed,
 * the next call or `removeScratchDatabase` drops its scratch database.
 * @param databaseUrl the application's database of the embedded PostgreSQL
 * @returns undefined if another process uses the scratch database
 */
async function withScratchDatabase<T>(
  databaseUrl: string,
  work: (scratchUrl: string) => Promise<T>,
): Promise<T | undefined> {
  return withScratchLock(databaseUrl, async (administrator) => {
    await administrator.query(`CREATE DATABASE ${scratchName} OWNER ownline TEMPLATE template0`);
    try {
      return await work(siblingUrl(databaseUrl, scratchName));
    } finally {
      await drop(administrator);
    }
  });
}

/** Drops the scratch database that a killed process left. Does nothing while a process uses it. */
export async function removeScratchDatabase(databaseUrl: string): Promise<void> {
  await withScratchLock(databaseUrl, async () => undefined);
}

/** Takes the lock and drops the scratch database before the work. @returns undefined if another process holds the lock */
async function withScratchLock<T>(
  databaseUrl: string,
  work: (administrator: pg.Client) => Promise<T>,
): Promise<T | undefined> {
  const administrator = createClient({
    connectionString: administratorUrl(databaseUrl),
    application_name: checkSessionName,
  });
  try {
    await administrator.connect();
    await administrator.query(`SET lock_timeout = '${scratchLockTimeout}'`);
    // The session of a killed process ends within milliseconds, and with it the lock.
    await administrator.query('SELECT pg_advisory_lock($1)', [scratchLock]);
    await drop(administrator);
    return await work(administrator);
  } catch (error) {
    if (errorCodeOf(error) === '55P03') return undefined;
    throw error;
  } finally {
    await administrator.end().catch(() => undefined);
  }
}

/** FORCE ends a session of a load that was aborted. */
async function drop(administrator: pg.Client): Promise<void> {
  await administrator.query(`DROP DATABASE IF EXISTS ${scratchName} WITH (FORCE)`);
}
