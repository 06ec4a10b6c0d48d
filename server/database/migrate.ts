import { fileURLToPath } from 'node:url';
import pg from 'pg';
import Postgrator from 'postgrator';
import type { Logger } from '#server/platform/process/logger.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { schemaVersion } from './schema-version.ts';

const migrationsFolder = fileURLToPath(new URL('./migrations/', import.meta.url));

/** Advisory lock: of processes that start at once, one migrates at a time. The number is arbitrary and ours alone. */
const migrationLock = 7_061_726_401;

const connectionTimeoutMs = 10_000;

interface MigrationOptions {
  /** Logs each migration with its name and duration. */
  readonly logger?: Logger;
  /** Aborts the migration: the transaction is rolled back. */
  readonly signal?: AbortSignal;
  /** The last version to apply, as its file is numbered: tests of an upgrade start from it. */
  readonly upTo?: string;
}

/**
 * Migrates the schema. All pending files and the record of their versions are one transaction: a kill in the middle
 * leaves the schema as it was. A statement that waits long for a lock fails, rather than block other processes.
 * @returns the versions that were applied now
 * @throws StartError where a newer release has changed the schema already, or the reason of `signal`
 */
export async function migrate(databaseUrl: string, options: MigrationOptions = {}): Promise<number[]> {
  options.signal?.throwIfAborted();
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'ownline migrations',
    connectionTimeoutMillis: connectionTimeoutMs,
  });
  // A connection that breaks fails its query. pg may emit the error as well, which needs a handler.
  client.on('error', () => undefined);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(options.signal?.reason);
  options.signal?.addEventListener('abort', giveUp);
  const migrating = migrateOn(client, options);
  try {
    return await Promise.race([migrating, stopped]);
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
    // A server that waits for a lock notices the end only afterwards: a stop does not wait for that.
    const ended = migrating.catch(() => undefined).then(() => client.end().catch(() => undefined));
    if (!options.signal?.aborted) await ended;
  }
}

async function migrateOn(client: pg.Client, { logger, upTo = 'max' }: MigrationOptions): Promise<number[]> {
  await client.connect();
  refuseOld(await versionOf(client));
  await client.query('BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
  await client.query("SET LOCAL lock_timeout = '10s'");
  const postgrator = new Postgrator({
    migrationPattern: `${migrationsFolder}*.sql`,
    driver: 'pg',
    schemaTable: 'schema_version',
    execQuery: (query: string) => client.query(query),
  });
  const found = await postgrator.getDatabaseVersion();
  if (found > 0) await refuseUnreleased(client);
  refuseNewer(found);
  if (logger) logMigrations(postgrator, logger);
  const applied = await postgrator.migrate(upTo).catch((error: unknown) => {
    throw explainChecksum(error);
  });
  await client.query('COMMIT');
  return applied.map((migration) => migration.version);
}

const oldestVersion = 15;

/** PostgreSQL's version number, such as 180004. */
async function versionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: string }>(
    "SELECT current_setting('server_version_num') AS version",
  );
  return Number(rows[0]?.version);
}

function refuseOld(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major >= oldestVersion) return;
  throw new StartError(
    `DATABASE_URL leads to PostgreSQL ${major}, and Ownline needs ${oldestVersion} or newer. Upgrade that server, or leave ` +
      'DATABASE_URL out to use the PostgreSQL that Ownline brings.',
  );
}

/** Databases from before the first release had other tables under the same version. They are not converted. */
async function refuseUnreleased(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string | null }>(
    "SELECT to_jsonb(s) ->> 'name' AS name FROM schema_version s WHERE version = 1",
  );
  const name = rows[0]?.name ?? undefined;
  if (name === undefined || name === 'schema') return;
  throw new StartError(
    'The database was made by Ownline from before its first release, and no release reads it. Start with another DATA_DIR, or ' +
      'with an empty database in DATABASE_URL; keep the old one for as long as you need what is in it.',
  );
}

/**
 * Migrations only make changes that the previous release tolerates while both run; its start is
 * no part of that promise.
 */
function refuseNewer(found: number): void {
  if (found <= schemaVersion) return;
  throw new StartError(
    `The database has schema version ${found}, made by a newer release of Ownline; this is release ${productVersion} ` +
      `with schema version ${schemaVersion}, and could damage the data. Start the newer release again, or restore a copy of the ` +
      'database from before the upgrade.',
  );
}

/** A migration that has run is never changed: another checksum means another line of development. */
function explainChecksum(error: unknown): unknown {
  const version =
    error instanceof Error
      ? /^MD5 checksum failed for migration \[(\d+)\]/.exec(error.message)?.[1]
      : undefined;
  if (version === undefined) return error;
  return new StartError(
    `The database was set up with another migration ${version} than this release has. Start the release that set it up, or ` +
      'restore the files in server/database/migrations.',
    error,
  );
}

function logMigrations(postgrator: Postgrator, logger: Logger): void {
  let startedAtMs = 0;
  postgrator.on('migration-started', () => {
    startedAtMs = performance.now();
  });
  postgrator.on('migration-finished', ({ version, name }) => {
    const ms = Math.round(performance.now() - startedAtMs);
    logger.info({ version, name, ms }, `migration ${version} ${name} took ${ms} ms`);
  });
}
