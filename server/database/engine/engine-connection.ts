import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { createClient } from '#server/database/create-client.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { startCommand } from '#server/platform/process/product-version.ts';
import { EngineError } from './engine-error.ts';
import { engineLayout } from './engine-folders.ts';
import type { Postmaster } from './postmaster.ts';
import { isPostmasterOf, readPostmasterRecord } from './postmaster-files.ts';
import { isPrivateTo, readSocketFolder, socketPort } from './socket-folder.ts';

/** The URL of the application's database, in a form that both node-postgres and psql accept. */
export function engineUrl(socketFolder: string): string {
  return `postgresql://ownline@/ownline?host=${encodeURIComponent(socketFolder)}&port=${socketPort}`;
}

/** The URL of another database of the embedded PostgreSQL, for the application's role. */
export function siblingUrl(databaseUrl: string, database: string): string {
  return databaseUrl.replace(/\/\w+\?host=/, `/${database}?host=`);
}

/** The URL of the embedded PostgreSQL's own database, for its superuser. */
export function administratorUrl(databaseUrl: string): string {
  return siblingUrl(databaseUrl, 'postgres').replace('://ownline@', '://postgres@');
}

/**
 * The URL of the embedded database that another process runs in DATA_DIR.
 * @throws EngineError if no database runs there, or it belongs to another user
 */
export async function findEngineUrl(dataDir: string): Promise<string> {
  const layout = engineLayout(resolve(dataDir));
  const notRunning = new EngineError(
    `No embedded database runs in DATA_DIR ${layout.dataDir}. Start it with \`${startCommand}\` first, or set DATA_DIR to ` +
      'where it runs, or DATABASE_URL to the database that is used instead.',
  );
  try {
    const [socketFolder, record, owner] = await Promise.all([
      readSocketFolder(layout),
      readPostmasterRecord(layout.pgFolder),
      stat(layout.pgFolder),
    ]);
    if (socketFolder === undefined || record?.socketFolder !== socketFolder) throw notRunning;
    if (!isPostmasterOf(record.pid, record.pgFolder)) throw notRunning;
    if (!(await isPrivateTo(socketFolder, owner.uid))) {
      throw new EngineError(
        `${socketFolder}, the folder of the embedded database's socket, is not private to its user. Restart Ownline.`,
      );
    }
    return engineUrl(socketFolder);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT') throw notRunning;
    if (code !== 'EACCES') throw error;
    throw new EngineError(
      `The embedded database in DATA_DIR ${layout.dataDir} belongs to another user. Run this as that user or as root.`,
      error,
    );
  }
}

/** The application's role and its database. */
const application = 'ownline';

const remindAfterMs = 10_000;

/** SQLSTATEs of a server that is not ready yet: starting up, shutting down, or out of connections. */
const notReadyCodes = new Set(['57P03', '53300']);
const noSocketCodes = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/**
 * Waits until PostgreSQL accepts connections. There is no time-out, because recovery after a crash may take long; a
 * long wait is logged.
 * @returns false if PostgreSQL ended instead
 * @throws the reason of `signal`
 */
export async function waitUntilReady(
  postmaster: Postmaster,
  socketFolder: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  let remindAtMs = performance.now() + remindAfterMs;
  while (await postmaster.isRunning()) {
    signal.throwIfAborted();
    try {
      await withSuperuser(socketFolder, async () => undefined);
      return true;
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    if (performance.now() > remindAtMs) {
      logger.info(
        'PostgreSQL is still starting; after a crash it recovers first (see postgres.log in DATA_DIR)',
      );
      remindAtMs += remindAfterMs;
    }
    await pause(30);
  }
  return false;
}

/**
 * Creates the application's role and database if they are missing. The role is not a superuser, as on a PostgreSQL that
 * the operator runs.
 */
export async function prepareApplicationDatabase(socketFolder: string, createdb: boolean): Promise<void> {
  await withSuperuser(socketFolder, async (client) => {
    const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [application]);
    if (role.rowCount === 0) await client.query(`CREATE ROLE ${application}`);
    await client.query(
      `ALTER ROLE ${application} LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS ${createdb ? 'CREATEDB' : 'NOCREATEDB'}`,
    );
    const database = await client.query('SELECT FROM pg_database WHERE datname = $1', [application]);
    if (database.rowCount === 0) await client.query(`CREATE DATABASE ${application} OWNER ${application}`);
  });
}

async function withSuperuser<T>(socketFolder: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = createClient({
    host: socketFolder,
    port: socketPort,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 5_000,
  });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCodeOf(error);
  // An error without a code is a time-out, or a connection that ended during its set-up.
  return code === undefined || notReadyCodes.has(code) || noSocketCodes.has(code);
}
