import { createHash } from 'node:crypto';
import type pg from 'pg';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { createClient } from './create-client.ts';
import { schemaFiles } from './table-declaration.ts';

/** The version of the schema that this code needs: 1, the files of the folder `schema` (decision 0050). */
export const schemaVersion = 1;

/**
 * Reads the schema version of a database.
 * @returns 0 if the database has no tables of Ownline
 * @throws StartError if the tables are from before the first release, which no release reads
 */
export async function readSchemaVersion(client: Pick<pg.ClientBase, 'query'>): Promise<number> {
  const { rows } = await client.query<{ is_known: boolean; is_unreleased: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('schema_versions') AND attname = 'fingerprint') AS is_known,
       to_regclass('schema_version') IS NOT NULL OR to_regclass('send_queue') IS NOT NULL AS is_unreleased`,
  );
  if (rows[0]?.is_known) {
    const { rows: versions } = await client.query<{ version: number }>(
      'SELECT max(version) AS version FROM schema_versions',
    );
    return versions[0]?.version ?? 0;
  }
  if (!rows[0]?.is_unreleased) return 0;
  throw new StartError(
    'The database was made by Ownline from before its first release, and no release reads it: start with another DATA_DIR, or ' +
      'with an empty database in DATABASE_URL, and keep the old one for as long as you need what is in it.',
  );
}

/**
 * Advisory lock: processes that start at the same time create the schema one after another. The number is arbitrary,
 * and no other code uses it.
 */
export const schemaLock = 7_061_726_401;

/** After `noticeMs` of waiting for the lock the wait is logged; after `maxMs` it ends with an error. */
const schemaLockWait = { noticeMs: 2_000, maxMs: 90_000 };

interface SchemaOptions {
  /** Logs a wait for another process, and how long the creation took. */
  readonly logger?: Logger;
  readonly lockWait?: typeof schemaLockWait;
  /** Refuses a connection, for instance to an older copy of the database. */
  readonly check?: (client: pg.Client) => Promise<unknown>;
  /** Aborts the creation: the transaction is rolled back. */
  readonly signal?: AbortSignal;
}

/**
 * Creates the schema in an empty database, in one transaction: a kill leaves the database empty. A database that has
 * the schema is only checked.
 * @returns true if the schema was created now
 * @throws StartError if the database has another schema; the reason of `signal`
 */
export async function applySchema(databaseUrl: string, options: SchemaOptions = {}): Promise<boolean> {
  options.signal?.throwIfAborted();
  const client = createClient({ connectionString: databaseUrl, application_name: 'ownline schema' });
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(options.signal?.reason);
  options.signal?.addEventListener('abort', giveUp);
  const applying = applyOn(client, options);
  try {
    return await Promise.race([applying, stopped]);
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
    // PostgreSQL notices the end of a connection only after a wait for a lock, so a stop does not await it.
    const ended = applying.catch(() => undefined).then(() => client.end().catch(() => undefined));
    if (!options.signal?.aborted) await ended;
  }
}

async function applyOn(
  client: pg.Client,
  { logger, lockWait = schemaLockWait, check }: SchemaOptions,
): Promise<boolean> {
  await client.connect();
  await check?.(client);
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockWait.maxMs}`);
  const notice = setTimeout(() => {
    logger?.warn('another process creates or restores the database; this one waits until it has ended');
  }, lockWait.noticeMs);
  await takeSchemaLock(client)
    .catch(refuseLocked)
    .finally(() => clearTimeout(notice));
  const startedAtMs = performance.now();
  const isNew = await applySchemaInTransaction(client);
  await client.query('COMMIT');
  const ms = Math.round(performance.now() - startedAtMs);
  if (isNew) logger?.info({ schema: schemaVersion, ms }, `database made in ${(ms / 1_000).toFixed(1)} s`);
  return isNew;
}

/** Processes that create or check the schema do so one after another, until the end of their transactions. */
async function takeSchemaLock(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
}

function refuseLocked(error: unknown): never {
  if (errorCodeOf(error) !== '55P03') throw error;
  throw new StartError(
    'Another process creates or restores the database: `ownline restore`, or another start. Start this one again when that ' +
      'has ended. If no such process is left, end its session in PostgreSQL, or restart PostgreSQL.',
    error,
  );
}

/**
 * Creates or checks the schema in the open transaction of a connection, into which a restore then loads its rows.
 * @returns true if the schema was created now
 */
export async function applySchemaInTransaction(client: pg.ClientBase): Promise<boolean> {
  await refuseOldServer(client);
  await takeSchemaLock(client);
  const found = await readSchemaVersion(client);
  refuseNewer(found);
  const fingerprint = fingerprintOf(schemaFiles);
  if (found > 0) {
    await refuseOther(client, fingerprint);
    return false;
  }
  for (const sql of schemaFiles) await client.query(sql).catch(refuseForeign);
  await client.query('INSERT INTO schema_versions (version, fingerprint) VALUES ($1, $2)', [
    schemaVersion,
    fingerprint,
  ]);
  return true;
}

/** The SHA-256 of the statements, without comments and line breaks: a comment may be corrected after the release. */
function fingerprintOf(files: readonly string[]): Buffer {
  const statements = files.join('\n').replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(statements).digest();
}

/** SQLSTATEs of a table, index, type or function whose name is in use. */
const nameInUse = ['42P07', '42710', '42723'];

/**
 * Explains that another program uses a name of the schema. Ownline's own tables are recognized before, by the schema
 * version.
 */
function refuseForeign(error: unknown): never {
  if (!(error instanceof Error) || !nameInUse.includes(errorCodeOf(error) ?? '')) throw error;
  throw new StartError(
    `The database has tables of another program with names that Ownline uses (${error.message}). Nothing was changed: name ` +
      'an empty database in DATABASE_URL.',
    error,
  );
}

const oldestServer = 15;

async function refuseOldServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    "SELECT current_setting('server_version_num') AS version",
  );
  // PostgreSQL's version number, such as 180004.
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  if (major >= oldestServer) return;
  throw new StartError(
    `DATABASE_URL leads to PostgreSQL ${major}, and Ownline needs ${oldestServer} or newer. Upgrade that server, or leave ` +
      'DATABASE_URL out to use the PostgreSQL that Ownline brings.',
  );
}

/**
 * Refuses to start with a newer schema. A running process tolerates the migrations of the next release, but a start
 * does not.
 */
function refuseNewer(found: number): void {
  if (found <= schemaVersion) return;
  throw new StartError(
    `The database has schema version ${found}, made by a newer release of Ownline; this is release ${productVersion} ` +
      `with schema version ${schemaVersion}, and could damage the data. Start the newer release again, or restore a copy of the ` +
      'database from before the upgrade.',
  );
}

/**
 * Refuses other tables under the same version: a released schema is never changed, so a development build created these
 * tables.
 */
async function refuseOther(client: pg.ClientBase, fingerprint: Buffer): Promise<void> {
  const { rows } = await client.query<{ fingerprint: Buffer }>(
    'SELECT fingerprint FROM schema_versions WHERE version = $1',
    [schemaVersion],
  );
  if (rows[0]?.fingerprint.equals(fingerprint)) return;
  throw new StartError(
    `The schema of this database differs from that of this release, although both have version ${schemaVersion}. Nothing was changed: ` +
      'start the release that set the database up, or see docs/operations.md, "A release that refuses the database".',
  );
}
