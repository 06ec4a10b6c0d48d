import type { Writable } from 'node:stream';
import type pg from 'pg';
import { readSchemaVersion, schemaVersion } from '#server/database/apply-schema.ts';
import { backupLock } from '#server/database/backup-lock.ts';
import { createClient } from '#server/database/create-client.ts';
import { columnList, listBackupTables, quoteName, readSequences } from '#server/database/tables.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { BackupError, OtherBackupError } from './backup-error.ts';
import {
  type BackupHeader,
  type BackupSequence,
  type BackupTable,
  formatVersion,
  type Progress,
} from './backup-format.ts';
import { createKey } from './backup-seal.ts';
import { BackupWriter } from './backup-writer.ts';
import { backupSessionName } from './backups-store.ts';
import { copyOut } from './copy.ts';
import { readSignedShortcuts } from './signed-shortcuts.ts';

/** Time-outs of a backup: for the locks of its tables, and a short one for the lock of backups. */
const lockTimeout = '10s';
const shortLockTimeout = '2s';

/** A snapshot: one state of the database, which a separate connection sees until it is closed. */
interface Snapshot {
  readonly client: pg.Client;
  readonly schemaVersion: number;
  readonly tables: readonly BackupTable[];
  readonly sequences: readonly BackupSequence[];
}

/**
 * Opens a snapshot: takes the advisory lock of backups, locks the tables against changes of the schema, and begins a
 * REPEATABLE READ transaction. A single connection reads everything. Sends, polls and deliveries go on, because none of
 * their locks conflicts.
 * @param signal aborts the backup by closing the connection
 * @throws BackupError if another backup is running
 */
async function openSnapshot(databaseUrl: string, signal?: AbortSignal): Promise<Snapshot> {
  const client = await connectForBackup(databaseUrl, backupSessionName, signal);
  try {
    await lockBackups(client);
    const tables = await listBackupTables(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // LOCK TABLE takes no snapshot, so the snapshot of the next statement is younger than all locks.
    await client.query(
      `LOCK TABLE ${tables.map(({ name }) => quoteName(name)).join(', ')} IN ACCESS SHARE MODE`,
    );
    return {
      client,
      schemaVersion: await readKnownVersion(client),
      tables,
      sequences: await readSequences(client),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Opens a connection without the time-outs of the pools, because a copy of all data may take long.
 * @param signal ends the connection, whose statement then fails
 */
export async function connectForBackup(
  databaseUrl: string,
  name: string,
  signal?: AbortSignal,
): Promise<pg.Client> {
  signal?.throwIfAborted();
  const client = createClient({
    connectionString: databaseUrl,
    application_name: name,
    keepAlive: true,
  });
  await client.connect();
  const end = () => void client.end().catch(() => undefined);
  signal?.addEventListener('abort', end);
  client.once('end', () => signal?.removeEventListener('abort', end));
  if (signal?.aborted) end();
  await client.query(`SET lock_timeout = '${lockTimeout}'; SET client_encoding = 'UTF8'; SET DateStyle = 'ISO'; SET TimeZone = 'UTC';
    SELECT set_config(name, '0', false) FROM pg_settings
    WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`);
  return client;
}

/** Takes the advisory lock of backups. @throws BackupError if another backup, a migration or a restore is running */
export async function lockBackups(client: pg.Client): Promise<void> {
  await client.query(`SET lock_timeout = '${shortLockTimeout}'`);
  await client.query('SELECT pg_advisory_lock($1)', [backupLock]).catch((error: unknown) => {
    if (errorCodeOf(error) !== '55P03') throw error;
    throw new OtherBackupError(error);
  });
  await client.query(`SET lock_timeout = '${lockTimeout}'`);
}

async function readKnownVersion(client: pg.Client): Promise<number> {
  const version = await readSchemaVersion(client);
  if (version <= schemaVersion) return version;
  throw new BackupError(
    `The database has schema version ${version}, made by a newer release of Ownline; this release knows ${schemaVersion}. ` +
      'Back it up with that release.',
  );
}

export interface BackupSource {
  readonly databaseUrl: string;
  readonly secretsKey: Buffer;
  readonly dataDir: string;
  /** undefined: the backup is not encrypted. */
  readonly passphrase: string | undefined;
  readonly serviceTime: () => Date;
  readonly progress?: Progress;
  /** Aborts the backup, which then fails. */
  readonly signal?: AbortSignal;
}

/** The figures of a backup, as `ownline backup --json` shows them. */
export interface BackupResult {
  readonly bytes: number;
  readonly taken_at: string;
  readonly schema_version: number;
  readonly tables: number;
  readonly rows: number;
  readonly sha256: string;
  readonly encrypted: boolean;
}

/**
 * Writes a backup of one moment to a stream, and ends the stream. @throws the error of the database or of the stream
 */
export async function createBackup(source: BackupSource, destination: Writable): Promise<BackupResult> {
  const encrypted = source.passphrase === undefined ? undefined : await createKey(source.passphrase);
  const shortcuts = await readSignedShortcuts(source.dataDir);
  const snapshot = await openSnapshot(source.databaseUrl, source.signal);
  // The time is read after the snapshot was taken, so no row of the backup is younger. Taking the locks may last
  // seconds.
  const takenAt = source.serviceTime();
  let writer: BackupWriter | undefined;
  try {
    const header: BackupHeader = {
      format: formatVersion,
      product_version: productVersion,
      schema_version: snapshot.schemaVersion,
      taken_at: takenAt.toISOString(),
      encryption: encrypted?.encryption ?? null,
    };
    writer = new BackupWriter(destination, header, encrypted?.key);
    const { tables, sequences } = snapshot;
    await writer.writeJson('manifest', {
      tables,
      sequences,
      secrets_key: source.secretsKey.toString('base64'),
      shortcuts,
    });
    failpoint('backup begun');
    const rows = await writeTables(snapshot, writer, source.progress);
    failpoint('backup rows written');
    await writer.writeJson('summary', { rows });
    const written = await writer.finish();
    return {
      ...written,
      taken_at: header.taken_at,
      schema_version: header.schema_version,
      tables: tables.length,
      rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
      encrypted: encrypted !== undefined,
    };
  } catch (error) {
    await writer?.abort(error instanceof Error ? error : new Error(String(error)));
    throw error;
  } finally {
    await snapshot.client.end().catch(() => undefined);
  }
}

/** @returns the number of rows of each table */
async function writeTables(
  { client, tables }: Snapshot,
  writer: BackupWriter,
  progress: Progress | undefined,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    await writer.writeJson('table', { name: table.name });
    progress?.begin(table.name);
    counts[table.name] = await copyOut(
      client,
      `COPY (SELECT ${columnList(table)} FROM ${quoteName(table.name)}) TO STDOUT`,
      async (rows) => {
        await writer.write('rows', rows);
        progress?.add(rows.length);
      },
    );
    failpoint('backup table written');
  }
  return counts;
}
