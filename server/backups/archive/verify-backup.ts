import type { Readable } from 'node:stream';
import type pg from 'pg';
import { createClient } from '#server/database/create-client.ts';
import { administratorUrl, siblingUrl } from '#server/database/engine/engine-connection.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { DamagedBackupError } from './backup-error.ts';
import {
  type BackupManifest,
  type BackupSummary,
  type Progress,
  parseManifest,
  parseSummary,
  parseTable,
} from './backup-format.ts';
import { BackupReader } from './backup-reader.ts';
import { checkSessionName } from './backups-store.ts';
import type { BackupResult } from './create-backup.ts';

/** The name is fixed, so that the next run finds what a killed one left. */
const name = 'ownline_backup_check';

/** Advisory lock of the scratch database, in the database `postgres`. The number is arbitrary. */
const scratchLock = 7_061_726_404;
const lockTimeout = '2s';

/**
 * Runs work with an empty scratch database of the embedded PostgreSQL, and drops it afterwards. A killed process leaves
 * it to the next call, or to `removeScratchDatabase`.
 * @param databaseUrl the application's database of the embedded PostgreSQL
 * @returns undefined if another process uses the scratch database
 */
export async function withScratchDatabase<T>(
  databaseUrl: string,
  work: (scratchUrl: string) => Promise<T>,
): Promise<T | undefined> {
  return withScratchLock(databaseUrl, async (administrator) => {
    await administrator.query(`CREATE DATABASE ${name} OWNER ownline TEMPLATE template0`);
    try {
      return await work(siblingUrl(databaseUrl, name));
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
    await administrator.query(`SET lock_timeout = '${lockTimeout}'`);
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
  await administrator.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/**
 * Reads a whole backup without a database: its checksums, its compression, and the number of rows of each table.
 * @returns `rowBytes`: the size of all rows in the text format of COPY, uncompressed
 * @throws BackupError if a restore would refuse the backup
 */
export async function verifyBackup(
  input: Readable,
  passphrase: string | undefined,
  progress?: Progress,
  now?: Date,
) {
  const reader = await BackupReader.open(input, passphrase, now);
  const content = new BackupContent();
  let rowBytes = 0;
  for await (const { kind, payload } of reader.records()) {
    const { table } = content.take(kind, payload);
    if (kind === 'table') progress?.begin(table);
    if (kind === 'rows') {
      progress?.add(payload.length);
      rowBytes += payload.length;
    }
  }
  const { header } = reader;
  const result: BackupResult = {
    ...reader.read(),
    taken_at: header.taken_at,
    schema_version: header.schema_version,
    ...content.finish(),
    encrypted: header.encryption !== null,
  };
  return { result, rowBytes };
}

/** Checks the order of the records of a backup, and counts the rows. Both verification and restore use it. */
export class BackupContent {
  #manifest: BackupManifest | undefined;
  #summary: BackupSummary | undefined;
  #table = '';
  readonly #rows: Record<string, number> = {};

  /** The first record. */
  get manifest(): BackupManifest {
    if (!this.#manifest) throw new DamagedBackupError('it has no list of its tables');
    return this.#manifest;
  }

  /** Takes the next record. @returns the table that the record belongs to */
  take(kind: string, payload: Buffer): { readonly table: string } {
    if (this.#summary || (kind === 'manifest') === (this.#manifest !== undefined)) {
      throw new DamagedBackupError('its records are out of order');
    }
    if (kind === 'manifest') this.#manifest = parseManifest(payload);
    if (kind === 'summary') this.#summary = parseSummary(payload);
    if (kind === 'table') {
      this.#table = parseTable(payload);
      this.#rows[this.#table] = 0;
    }
    if (kind === 'rows') this.#rows[this.#table] = (this.#rows[this.#table] ?? 0) + countRows(payload);
    return { table: this.#table };
  }

  /** Call it after the last record. @throws DamagedBackupError if rows are missing */
  finish(): { readonly tables: number; readonly rows: number } {
    const { tables } = this.manifest;
    if (!this.#summary) throw new DamagedBackupError('it has no summary of its rows');
    for (const { name } of tables) {
      if (this.#rows[name] !== this.#summary.rows[name]) {
        throw new DamagedBackupError(`the number of rows of the table ${name} differs from its summary`);
      }
    }
    return {
      tables: tables.length,
      rows: Object.values(this.#rows).reduce((sum, count) => sum + count, 0),
    };
  }
}

const lineBreak = 0x0a;

/** Counts rows by their line breaks: COPY ends each row with one, and writes those inside texts as `\n`. */
export function countRows(rows: Buffer): number {
  let count = 0;
  for (let at = rows.indexOf(lineBreak); at >= 0; at = rows.indexOf(lineBreak, at + 1)) count += 1;
  return count;
}
