import type pg from 'pg';
import { createClient } from '../create-client.ts';
import { errorCodeOf } from '../database.ts';
import { administratorUrl, siblingUrl } from '../engine/engine-url.ts';
import { checkSessionName } from './backups-store.ts';

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
