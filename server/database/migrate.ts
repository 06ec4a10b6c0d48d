import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import Postgrator from 'postgrator';
import type { Logger } from '#server/platform/process/logger.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { backupLock } from './backup-lock.ts';
import { errorCodeOf } from './database.ts';
import { schemaVersion } from './schema-version.ts';

const migrationsFolder = fileURLToPath(new URL('./migrations/', import.meta.url));

/**
 * Advisory lock: processes that start at the same time migrate one after another. The number is arbitrary, and no other
 * code uses it.
 */
const migrationLock = 7_061_726_401;

const connectionTimeoutMs = 10_000;

const lockNotAvailable = '55P03';

/** How long a migration waits for the lock of a table; sends queue behind it. */
const shortLockTimeoutMs = 300;

/**
 * PostgreSQL ends an autovacuum only for a lock that has waited for a second (deadlock_timeout). Each tenth attempt
 * waits longer than that, so that the vacuum of a large table does not keep a release from starting.
 */
const longLockTimeoutMs = 1_500;
const longAttemptEvery = 10;

/** Attempts to migrate, and the pause between them: 90 s in all. */
const attemptsMax = 90;
const retryPauseMs = 1_000;

interface MigrationOptions {
  /** Logs each migration with its name and duration. */
  readonly logger?: Logger;
  /** Aborts the migration: the transaction is rolled back. */
  readonly signal?: AbortSignal;
  /** The last version to apply, by the number of its file, for tests of an upgrade. */
  readonly upTo?: string;
  /** How long the migration waits for the lock of a table; by default 300 ms. */
  readonly lockTimeoutMs?: number;
}

/**
 * Migrates the schema. All pending files and the record of their versions are one transaction: a kill leaves the schema
 * as it was. While a table is in use, the transaction is tried again each second, for 90 s.
 * @returns the versions that were applied now
 * @throws StartError if a newer release has changed the schema already; the reason of `signal`
 */
export async function migrate(databaseUrl: string, options: MigrationOptions = {}): Promise<number[]> {
  options.signal?.throwIfAborted();
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'ownline migrations',
    connectionTimeoutMillis: connectionTimeoutMs,
  });
  // A broken connection fails its query. pg may emit the error as well, which needs a handler.
  client.on('error', () => undefined);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(options.signal?.reason);
  options.signal?.addEventListener('abort', giveUp);
  const migrating = migrateOn(client, options);
  try {
    return await Promise.race([migrating, stopped]);
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
    // PostgreSQL notices the end of a connection only after a wait for a lock, so a stop does not await it.
    const ended = migrating.catch(() => undefined).then(() => client.end().catch(() => undefined));
    if (!options.signal?.aborted) await ended;
  }
}

/**
 * Sends queue behind a migration that waits for a table. So each wait ends after 300 ms, and each tenth one after
 * 1.5 s. Then the transaction rolls back, releases all its locks, and is tried again after a pause.
 */
async function migrateOn(client: pg.Client, options: MigrationOptions): Promise<number[]> {
  await client.connect();
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query('BEGIN');
      const isLong = attempt % longAttemptEvery === 0;
      const applied = await migrateInTransaction(client, {
        ...options,
        ...(isLong && { lockTimeoutMs: longLockTimeoutMs }),
      });
      await client.query('COMMIT');
      return applied;
    } catch (error) {
      if (errorCodeOf(error) !== lockNotAvailable) throw error;
      await client.query('ROLLBACK');
      if (attempt === attemptsMax) throw tablesInUse(error);
      options.logger?.warn({ attempt }, 'the migration waits for a table that is in use; it is tried again');
      await setTimeout(retryPauseMs, undefined, options.signal && { signal: options.signal });
    }
  }
}

function tablesInUse(error: unknown): StartError {
  return new StartError(
    `A table that this release changes was in use for ${Math.round((attemptsMax * retryPauseMs) / 1_000)} s. Look for long ` +
      'transactions and vacuums (pg_stat_activity), such as a copy of the database, and start again when they have ended. Nothing was changed.',
    error,
  );
}

/**
 * Migrates in the open transaction of a connection, into which a restore then loads its rows.
 * @returns the versions that were applied
 */
export async function migrateInTransaction(
  client: pg.ClientBase,
  {
    logger,
    upTo = 'max',
    lockTimeoutMs = shortLockTimeoutMs,
  }: Pick<MigrationOptions, 'logger' | 'upTo' | 'lockTimeoutMs'>,
): Promise<number[]> {
  refuseOld(await versionOf(client));
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
  if (found < (upTo === 'max' ? schemaVersion : Number(upTo))) await waitForBackup(client);
  await client.query(`SET LOCAL lock_timeout = '${lockTimeoutMs}ms'`);
  if (logger) logMigrations(postgrator, logger, found === 0 ? 'debug' : 'info');
  const startedAtMs = performance.now();
  const applied = await postgrator.migrate(upTo).catch((error: unknown) => {
    throw explainChecksum(error);
  });
  if (found === 0 && logger) {
    const ms = Math.round(performance.now() - startedAtMs);
    const count = applied.length;
    logger.info(
      { migrations: count, ms },
      `database made: ${count} migrations in ${(ms / 1_000).toFixed(1)} s`,
    );
  }
  return applied.map((migration) => migration.version);
}

const oldestVersion = 15;

/** PostgreSQL's version number, such as 180004. */
async function versionOf(client: pg.ClientBase): Promise<number> {
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

/**
 * Refuses databases from before the first release: they have other tables under the same version, and are not
 * converted.
 */
async function refuseUnreleased(client: pg.ClientBase): Promise<void> {
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
 * Explains a changed checksum. A released migration is never changed, so another development version set up the
 * database.
 */
function explainChecksum(error: unknown): unknown {
  const version =
    error instanceof Error
      ? /^MD5 checksum failed for migration \[(\d+)\]/.exec(error.message)?.[1]
      : undefined;
  if (version === undefined) return error;
  return new StartError(
    `Migration ${version} of this database differs from that of this release. Start the release that set the database up, or ` +
      'restore the files in server/database/migrations.',
    error,
  );
}

/**
 * Waits for a running backup. Otherwise the migration would wait for the tables that the backup reads, and sends would
 * wait behind the migration.
 */
async function waitForBackup(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock_shared($1)', [backupLock]).catch((error: unknown) => {
    if (errorCodeOf(error) !== lockNotAvailable) throw error;
    throw new StartError(
      'A backup of the database runs, and this release would change its schema meanwhile. Start it again when the backup has ended.',
      error,
    );
  });
}

/** The migrations of a new database make one log line; an upgrade logs a line for each. */
function logMigrations(postgrator: Postgrator, logger: Logger, level: 'debug' | 'info'): void {
  let startedAtMs = 0;
  postgrator.on('migration-started', () => {
    startedAtMs = performance.now();
  });
  postgrator.on('migration-finished', ({ version, name }) => {
    const ms = Math.round(performance.now() - startedAtMs);
    logger[level]({ version, name, ms }, `migration ${version} ${name} took ${ms} ms`);
  });
}
