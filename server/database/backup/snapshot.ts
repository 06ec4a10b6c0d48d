import type pg from 'pg';
import { createClient } from '../create-client.ts';
import { errorCodeOf } from '../database.ts';
import { transactionQuery } from '../query.ts';
import { readSchemaVersion, schemaVersion } from '../schema-version.ts';
import { BackupError, OtherBackupError } from './backup-error.ts';
import type { BackupSequence, BackupTable } from './backup-format.ts';
import { listBackupTables, quoteName, readSequences } from './backup-tables.ts';
import { backupSessionName } from './backups-store.ts';

/** Time-outs of a backup: for the locks of its tables, and a short one for the lock of backups. */
const lockTimeout = '10s';
const shortLockTimeout = '2s';

/** A snapshot: one state of the database, which a separate connection sees until it is closed. */
export interface Snapshot {
  readonly client: pg.Client;
  readonly schemaVersion: number;
  readonly tables: readonly BackupTable[];
  readonly sequences: readonly BackupSequence[];
  close(): Promise<void>;
}

/**
 * Opens a snapshot: takes the advisory lock of backups, locks the tables against changes of the schema, and begins a
 * REPEATABLE READ transaction. A single connection reads everything. Sends, polls and deliveries go on, because none of
 * their locks conflicts.
 * @param signal aborts the backup by closing the connection
 * @throws BackupError if another backup is running
 */
export async function openSnapshot(databaseUrl: string, signal?: AbortSignal): Promise<Snapshot> {
  const client = await connectForBackup(databaseUrl, backupSessionName, signal);
  try {
    await lockBackups(client);
    const tables = await listBackupTables(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // LOCK TABLE takes no snapshot, so the snapshot of the next statement is younger than all locks.
    await client.query(
      `LOCK TABLE ${tables.map(({ name }) => quoteName(name)).join(', ')} IN ACCESS SHARE MODE`,
    );
    const version = await readKnownVersion(client);
    return {
      client,
      schemaVersion: version,
      tables,
      sequences: await readSequences(client),
      close: () => client.end().catch(() => undefined),
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
  await client.query(`SET statement_timeout = 0`);
  await client.query(`SET idle_in_transaction_session_timeout = 0`);
  await client.query(`SET lock_timeout = '${lockTimeout}'`);
  await client.query(
    "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'",
  );
  await client.query("SET client_encoding = 'UTF8'");
  await client.query("SET DateStyle = 'ISO'");
  await client.query("SET TimeZone = 'UTC'");
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

/**
 * Advisory lock of backups. A backup holds it exclusively; work that removes or changes rows which the backup must
 * still read holds it shared (docs/internals/locks.md). The number is arbitrary, and no other code uses it.
 */
export const backupLock = 7_061_726_402;

/**
 * Keeps backups from starting until the end of this transaction.
 * @returns false while a backup runs or waits: the caller then does its work in a later round
 */
export const excludeBackups = transactionQuery(
  'backups.exclude',
  `SELECT FROM (SELECT pg_try_advisory_xact_lock_shared(${backupLock}) AS is_free) AS lock WHERE is_free`,
).hasRow;
