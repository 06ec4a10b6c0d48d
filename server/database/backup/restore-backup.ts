import type { Readable } from 'node:stream';
import type pg from 'pg';
import type { Config } from '#server/platform/config.ts';
import { parseSecretsKey, Secrets } from '#server/platform/crypto.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { errorCodeOf, isDatabaseAway } from '../database.ts';
import { migrateInTransaction } from '../migrate.ts';
import { schemaVersion } from '../schema-version.ts';
import { keepSecretsKey, refuseOtherKey } from '../secrets-key.ts';
import type { Transaction } from '../statement.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import type { BackupHeader, BackupManifest, BackupTable } from './backup-format.ts';
import { BackupReader, type BackupRecord } from './backup-reader.ts';
import { columnList, listBackupTables, quoteName } from './backup-tables.ts';
import { CopyIn } from './copy-in.ts';
import type { Progress } from './progress.ts';
import { writeSignedShortcuts } from './signed-shortcuts.ts';
import { connectForBackup, lockBackups } from './snapshot.ts';
import { BackupContent, countRows } from './verify-backup.ts';

export interface RestoreTarget {
  readonly databaseUrl: string;
  readonly config: Pick<Config, 'dataDir' | 'secretsKey'>;
  /** The passphrase of the backup; undefined if none was given. */
  readonly passphrase: string | undefined;
  readonly progress?: Progress;
  /** Aborts the restore, which then fails. Once the commit has begun, the signal is ignored. */
  readonly signal?: AbortSignal;
  /** Called before the commit. From then on an interruption leaves it unknown whether the restore took place. */
  readonly beforeCommit?: () => void;
  /** Runs work of other slices in the transaction of the restore, after its rows were loaded and migrated. */
  readonly afterLoad: (trx: Transaction, header: BackupHeader) => Promise<void>;
}

export interface RestoreResult {
  readonly taken_at: string;
  /** The schema version of the backup. `schema_version` is that of the database after the restore. */
  readonly backup_schema_version: number;
  readonly schema_version: number;
  readonly tables: number;
  readonly rows: number;
}

/**
 * Loads a backup into an empty database. The schema, all rows, the migrations since the backup and `afterLoad` are one
 * transaction. The transaction commits after the last byte of the backup was checked. So a kill at any moment leaves
 * the database empty or complete. All constraints and triggers stay active. Deferrable ones are checked after the last
 * row (decision 0044).
 * @throws BackupError if the database is not empty, or the backup is damaged, newer, or encrypted with another
 * passphrase
 */
export async function restoreBackup(input: Readable, target: RestoreTarget): Promise<RestoreResult> {
  const { signal } = target;
  const loading = new AbortController();
  const abort = () => {
    loading.abort(signal?.reason);
    input.destroy();
  };
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    return await restore(input, target, loading.signal, () => {
      signal?.removeEventListener('abort', abort);
      target.beforeCommit?.();
    });
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

const sessionName = 'ownline restore';

/**
 * @param signal ends the connection
 * @param ignoreSignal called before the commit; from then on the signal ends nothing, because the outcome of an
 * interrupted commit is unknown
 */
async function restore(
  input: Readable,
  target: RestoreTarget,
  signal: AbortSignal,
  ignoreSignal: () => void,
): Promise<RestoreResult> {
  const reader = await BackupReader.open(input, target.passphrase);
  const { header } = reader;
  refuseNewerBackup(header);
  const client = await connectForBackup(target.databaseUrl, sessionName, signal);
  let processId: number | undefined;
  try {
    processId = await readProcessId(client);
    await lockBackups(client);
    await client.query('BEGIN');
    await refuseContent(client, header);
    await migrateInTransaction(client, { upTo: String(header.schema_version).padStart(3, '0') });
    const tables = await listBackupTables(client);
    // The lock makes a server that starts meanwhile wait before it creates its first team.
    await client.query('LOCK TABLE teams IN SHARE ROW EXCLUSIVE MODE');
    await refuseRows(client, tables);
    failpoint('restore begun');
    // Rules across tables are checked after the last row, so that they do not depend on the order of the tables.
    await client.query('SET CONSTRAINTS ALL DEFERRED');
    const load = new Load(client, target, tables);
    for await (const record of reader.records()) await load.take(record).catch(refuseForeignRecord);
    failpoint('restore rows loaded');
    const loaded = load.content.finish();
    await client.query('SET CONSTRAINTS ALL IMMEDIATE').catch(refuseForeignRecord);
    await refuseOtherFingerprint(client, load.secretsKey);
    await migrateInTransaction(client, {});
    await target.afterLoad(asTransaction(client), header);
    // The key is written before the commit: a database without its key would be lost, and a key without a database is
    // harmless.
    await keepSecretsKey(target.config, load.secretsKey);
    failpoint('restore key written');
    await writeSignedShortcuts(target.config.dataDir, load.content.manifest.shortcuts);
    failpoint('restore before commit');
    ignoreSignal();
    signal.throwIfAborted();
    await commit(client);
    failpoint('restore committed');
    await analyze(client, target.signal);
    return {
      taken_at: header.taken_at,
      backup_schema_version: header.schema_version,
      schema_version: schemaVersion,
      ...loaded,
    };
  } catch (error) {
    throw explain(error);
  } finally {
    // Closing the connection ends its transaction, even during a COPY that waits for rows.
    input.destroy();
    await client.end().catch(() => undefined);
    if (signal.aborted && processId !== undefined) await endSession(target.databaseUrl, processId);
  }
}

/**
 * Collects the statistics of the restored tables. If that fails or a signal ends it, PostgreSQL analyzes the tables
 * later by itself.
 */
async function analyze(client: pg.Client, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  const end = () => void client.end().catch(() => undefined);
  signal?.addEventListener('abort', end);
  await client.query('ANALYZE').catch(() => undefined);
  signal?.removeEventListener('abort', end);
}

async function readProcessId(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ id: number }>('SELECT pg_backend_pid() AS id');
  return rows[0]?.id;
}

/**
 * Ends the database session of an aborted restore. PostgreSQL may still work for a closed connection, and the session's
 * locks would make the next restore fail.
 */
async function endSession(databaseUrl: string, processId: number): Promise<void> {
  try {
    const client = await connectForBackup(databaseUrl, sessionName);
    await client
      .query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2',
        [processId, sessionName],
      )
      .finally(() => client.end());
  } catch {
    // The session ends by itself when PostgreSQL next writes to the closed connection.
  }
}

/**
 * Commits the restore. @throws BackupError if the connection was lost meanwhile: PostgreSQL may have committed or not
 */
async function commit(client: pg.Client): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    throw new BackupError(
      'The database ended the connection during the commit, so it is not known whether the backup was restored. ' +
        'Run `ownline restore --status`: `held: true` means that all of it was restored.',
      error,
    );
  }
}

/** Size of the rows of one COPY. PostgreSQL keeps a list of rows to check in memory until the COPY ends. */
const copyMaxBytes = 32 * 1_024 * 1_024;

/** Loads the records of a backup in their order. */
class Load {
  readonly content = new BackupContent();
  readonly #client: pg.Client;
  readonly #target: RestoreTarget;
  readonly #tables: ReadonlyMap<string, BackupTable>;
  #copy: CopyIn | undefined;
  #copiedBytes = 0;
  #copiedRows = 0;

  constructor(client: pg.Client, target: RestoreTarget, tables: readonly BackupTable[]) {
    this.#client = client;
    this.#target = target;
    this.#tables = new Map(tables.map((table) => [table.name, table]));
  }

  get secretsKey(): Buffer {
    const key = parseSecretsKey(this.content.manifest.secrets_key);
    if (!key) throw new DamagedBackupError('it has no secrets key');
    return key;
  }

  async take({ kind, payload }: BackupRecord): Promise<void> {
    const { table } = this.content.take(kind, payload);
    if (kind === 'manifest') await this.#prepare(this.content.manifest);
    if (kind === 'rows') await this.#load(table, payload);
    if (kind === 'table' || kind === 'summary') {
      await this.#finishCopy();
      if (kind === 'table') this.#target.progress?.begin(table);
    }
  }

  async #prepare({ tables, sequences }: BackupManifest): Promise<void> {
    await refuseOtherKey(this.#target.config, this.secretsKey);
    const described = (of: Iterable<BackupTable>) =>
      JSON.stringify([...of].map(({ name, columns }) => [name, [...columns].sort()]).sort());
    if (described(tables) !== described(this.#tables.values())) {
      throw new BackupError(
        'The tables of the backup are not those of its schema version: another build of Ownline made it. Restore it ' +
          'with the release that made it.',
      );
    }
    for (const { name, months } of tables) {
      for (const month of months) {
        await this.#client.query('SELECT make_partition($1, $2::date, 0)', [name, month]);
      }
    }
    for (const { name, last_value, is_called } of sequences) {
      await this.#client.query('SELECT setval($1::regclass, $2, $3)', [
        quoteName(name),
        last_value,
        is_called,
      ]);
    }
  }

  async #load(name: string, rows: Buffer): Promise<void> {
    const table = this.content.manifest.tables.find((known) => known.name === name);
    if (!table) throw new DamagedBackupError('it has rows before the name of their table');
    this.#copy ??= await CopyIn.start(
      this.#client,
      `COPY ${quoteName(name)} (${columnList(table)}) FROM STDIN`,
    );
    await this.#copy.write(rows);
    this.#target.progress?.add(rows.length);
    this.#copiedBytes += rows.length;
    this.#copiedRows += countRows(rows);
    if (this.#copiedBytes >= copyMaxBytes) await this.#finishCopy();
  }

  async #finishCopy(): Promise<void> {
    if (!this.#copy) return;
    const loaded = await this.#copy.finish();
    // PostgreSQL ignores all rows after a line `\.`, which only a forged backup contains.
    if (loaded !== this.#copiedRows) {
      throw new DamagedBackupError(
        `the database loaded ${loaded} of the ${this.#copiedRows} rows in the file`,
      );
    }
    this.#copy = undefined;
    this.#copiedBytes = 0;
    this.#copiedRows = 0;
    failpoint('restore table loaded');
  }
}

function refuseNewerBackup({ schema_version, product_version }: BackupHeader): void {
  if (schema_version <= schemaVersion) return;
  throw new BackupError(
    `The backup has schema version ${schema_version}, made by Ownline ${product_version}; this release knows ${schemaVersion}. ` +
      'Restore it with that release or a later one.',
  );
}

/**
 * Explains an error of PostgreSQL about values or names that no database of Ownline can contain. @throws BackupError
 * for such an error, otherwise the error itself
 */
function refuseForeignRecord(error: unknown): never {
  if (!/^(22|23|42P01|42703)/.test(errorCodeOf(error) ?? '')) throw error;
  throw new BackupError(
    `The database refuses what is in the file (${error instanceof Error ? error.message : error}): another program made or changed ` +
      'the file. Take another copy of it, or another backup. Nothing of it was used.',
    error,
  );
}

/**
 * Refuses a schema version that this release does not know. The restore creates the backup's schema and migrates it,
 * and migrations can't be undone.
 */
async function refuseContent(client: pg.Client, { schema_version }: BackupHeader): Promise<void> {
  const tables = await listBackupTables(client);
  const { rows: known } = await client.query<{ is_ours: boolean }>(
    "SELECT to_regclass('schema_version') IS NOT NULL AS is_ours",
  );
  if (!known[0]?.is_ours) {
    if (tables[0]) throw notEmpty(`it has a table ${tables[0].name}`);
    return;
  }
  await refuseRows(client, tables);
  const { rows } = await client.query<{ version: number }>(
    'SELECT max(version)::int AS version FROM schema_version',
  );
  const version = rows[0]?.version ?? 0;
  if (version <= schema_version) return;
  throw notEmpty(`it has schema version ${version} already, and the backup ${schema_version}`);
}

async function refuseRows(client: pg.Client, tables: readonly BackupTable[]): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await client.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${quoteName(name)}) AS found`,
    );
    if (rows[0]?.found) throw notEmpty(`the table ${name} has rows`);
  }
}

function notEmpty(reason: string): BackupError {
  return new BackupError(
    `The database is not empty: ${reason}. A restore replaces nothing. With DATABASE_URL, create a new database and name it there. ` +
      'With the embedded database, stop Ownline and move the folder pg out of DATA_DIR, or name another DATA_DIR.',
  );
}

async function refuseOtherFingerprint(client: pg.Client, key: Buffer): Promise<void> {
  const { rows } = await client.query<{ secrets_key_fingerprint: Buffer }>(
    'SELECT secrets_key_fingerprint FROM instance',
  );
  const fingerprint = new Secrets(key).fingerprint();
  if (rows.every((row) => row.secrets_key_fingerprint.equals(fingerprint))) return;
  throw new DamagedBackupError('its secrets key is not the key that its data was sealed with');
}

/**
 * Makes the restore's connection usable for statements of use cases. It sends no notifications, because no process
 * serves the database yet.
 */
function asTransaction(client: pg.Client): Transaction {
  return Object.assign(client, {
    transaction: true as const,
    notifyAfterCommit: () => undefined,
    afterCommit: () => undefined,
    recordChange: () => undefined,
    release: () => undefined,
  });
}

function explain(error: unknown): unknown {
  if (errorCodeOf(error) === '53100') {
    const reason = error instanceof Error ? error.message : String(error);
    return new BackupError(
      `The disk of the database is full (${reason}). Nothing was restored. Free space on that disk, then restore again.`,
      error,
    );
  }
  if (isDatabaseAway(error)) {
    return new BackupError(
      'The database ended the connection, so nothing was restored; its log says why. Restore again.',
      error,
    );
  }
  return error;
}
