import type pg from 'pg';
import { applySchemaInTransaction, readSchemaVersion, schemaVersion } from '#server/database/apply-schema.ts';
import { columnList, hasRows, listBackupTables, quoteName } from '#server/database/tables.ts';
import { parseSecretsKey, Secrets } from '#server/platform/crypto.ts';
import { errorCodeOf, messageOf } from '#server/platform/error-code.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import type { BackupHeader, BackupManifest, BackupTable, Progress } from './backup-format.ts';
import type { BackupReader, BackupRecord } from './backup-reader.ts';
import { CopyIn } from './copy.ts';
import { BackupContent, countRows } from './verify-backup.ts';

interface LoadOptions {
  readonly progress: Progress | undefined;
  /** Throws for a backup with another secrets key, before the first row is loaded. */
  readonly checkKey?: (key: Buffer) => Promise<void>;
  /** Called before each COPY of at most 32 MB; if it throws, the load ends. */
  readonly beforeCopy?: () => Promise<void>;
}

/**
 * Loads a backup into an empty database, in the open transaction of a connection: the schema and all rows. All
 * constraints hold afterwards.
 * @throws BackupError if the database is not empty, or the backup is damaged or newer
 */
export async function loadBackup(client: pg.Client, reader: BackupReader, options: LoadOptions) {
  const { header } = reader;
  refuseNewerBackup(header);
  await refuseEncoding(client);
  await refuseContent(client);
  await applySchemaInTransaction(client);
  const tables = await listBackupTables(client);
  // The lock makes a server that starts meanwhile wait before it creates its first team.
  await client.query('LOCK TABLE teams IN SHARE ROW EXCLUSIVE MODE');
  await refuseRows(client, tables);
  failpoint('restore begun');
  // Rules across tables are checked after the last row, so that they do not depend on the order of the tables.
  await client.query('SET CONSTRAINTS ALL DEFERRED');
  const load = new Load(client, options, tables);
  for await (const record of reader.records()) await load.take(record).catch(refuseForeignRecord);
  failpoint('restore rows loaded');
  const counts = load.content.finish();
  await client.query('SET CONSTRAINTS ALL IMMEDIATE').catch(refuseForeignRecord);
  await refuseOtherFingerprint(client, load.secretsKey);
  return { secretsKey: load.secretsKey, shortcuts: load.content.manifest.shortcuts, counts };
}

function refuseNewerBackup({ schema_version, product_version }: BackupHeader): void {
  if (schema_version <= schemaVersion) return;
  throw new BackupError(
    `The backup has schema version ${schema_version}, made by Ownline ${product_version}; this release knows ${schemaVersion}. ` +
      'Restore it with that release or a later one.',
  );
}

/** A database of another encoding can't store each character. @throws BackupError */
async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    'SELECT pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = current_database()',
  );
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new BackupError(
    `The database has the encoding ${encoding}, which can't store every text of the backup. Create one with ` +
      "`CREATE DATABASE ownline ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`, and name it in DATABASE_URL.",
  );
}

/** Refuses a database with tables of another program, or with rows. */
async function refuseContent(client: pg.Client): Promise<void> {
  if ((await readSchemaVersion(client)) > 0) return refuseRows(client, await listBackupTables(client));
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename LIMIT 1',
  );
  if (rows[0]) throw notEmpty(`it has a table ${rows[0].name}`);
}

async function refuseRows(client: pg.Client, tables: readonly BackupTable[]): Promise<void> {
  for (const { name } of tables) {
    if (await hasRows(client, name)) throw notEmpty(`the table ${name} has rows`);
  }
}

function notEmpty(reason: string): BackupError {
  return new BackupError(
    `The database is not empty: ${reason}. A restore replaces nothing. With DATABASE_URL, create a new database and name it there. ` +
      'With the embedded database, stop Ownline and move the folder pg out of DATA_DIR, or name another DATA_DIR.',
  );
}

/** Size of the rows of one COPY. PostgreSQL keeps a list of rows to check in memory until the COPY ends. */
const copyMaxBytes = 32 * 1_024 * 1_024;

class Load {
  readonly content = new BackupContent();
  readonly #client: pg.Client;
  readonly #options: LoadOptions;
  readonly #tables: ReadonlyMap<string, BackupTable>;
  #copy: CopyIn | undefined;
  #copiedBytes = 0;
  #copiedRows = 0;

  constructor(client: pg.Client, options: LoadOptions, tables: readonly BackupTable[]) {
    this.#client = client;
    this.#options = options;
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
      if (kind === 'table') this.#options.progress?.begin(table);
    }
  }

  async #prepare({ tables, sequences }: BackupManifest): Promise<void> {
    await this.#options.checkKey?.(this.secretsKey);
    const described = (of: Iterable<BackupTable>) =>
      JSON.stringify([...of].map(({ name, columns }) => [name, [...columns].sort()]).sort());
    if (described(tables) !== described(this.#tables.values())) {
      throw new BackupError(
        'The tables of the backup are not those of its schema version: another build of Ownline made it. Restore it ' +
          'with the release that made it.',
      );
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
    if (!this.#copy) await this.#options.beforeCopy?.();
    this.#copy ??= await CopyIn.start(
      this.#client,
      `COPY ${quoteName(name)} (${columnList(table)}) FROM STDIN`,
    );
    await this.#copy.write(rows);
    this.#options.progress?.add(rows.length);
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

/**
 * Explains an error of PostgreSQL about values or names that no database of Ownline can contain. @throws BackupError
 * for such an error, otherwise the error itself
 */
function refuseForeignRecord(error: unknown): never {
  if (!/^(22|23|42P01|42703)/.test(errorCodeOf(error) ?? '')) throw error;
  throw new BackupError(
    `The database refuses what is in the file (${messageOf(error)}): another program made or changed ` +
      'the file. Take another copy of it, or another backup. Nothing of it was used.',
    error,
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
