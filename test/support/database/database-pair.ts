import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { applySchema } from '#server/database/apply-schema.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { createLogger } from '#server/platform/process/logger.ts';

export interface DatabasePair {
  /** The former primary, which was started again, and the promoted copy. */
  readonly olderSocket: string;
  readonly newerSocket: string;
  readonly close: () => Promise<void>;
}

/**
 * Makes two PostgreSQL of one cluster that both accept writes: a copy of a stopped primary recovered and was promoted,
 * and the primary came back.
 * @param use is called with the URL and the socket folder of the primary before it stops
 */
export async function startDatabasePair(
  folder: string,
  use: (databaseUrl: string, socket: string) => Promise<void> = async () => undefined,
): Promise<DatabasePair> {
  const [olderDir, newerDir] = [join(folder, 'older'), join(folder, 'newer')];
  // PostgreSQL runs as another user if the tests run as root.
  await chmod(folder, 0o711);
  const logger = createLogger('silent');
  const parameters = { fsync: 'off', max_connections: '400' };
  const start = (dataDir: string, more = {}) =>
    startEngine({ dataDir, logger, createdb: true, parameters: { ...parameters, ...more } });
  const first = await start(olderDir);
  await applySchema(first.databaseUrl);
  await use(first.databaseUrl, join(olderDir, 'socket'));
  await first.stop();
  await mkdir(newerDir);
  await cp(join(olderDir, 'pg'), join(newerDir, 'pg'), { recursive: true, preserveTimestamps: true });
  await writeFile(join(newerDir, 'pg', 'recovery.signal'), '');
  const newer = await start(newerDir, { restore_command: 'false', hot_standby: 'off' });
  const older = await start(olderDir);
  return {
    olderSocket: join(olderDir, 'socket'),
    newerSocket: join(newerDir, 'socket'),
    close: async () => void (await Promise.all([older.stop(), newer.stop()])),
  };
}

/** Copies the database `ownline` under another name. */
export function copyDatabase(socket: string, name: string): Promise<void> {
  return asSuperuser(socket, [`CREATE DATABASE "${name}" TEMPLATE ownline OWNER ownline`]);
}

/** Makes commits wait for a standby of this name; '': for none. */
export function setSynchronousStandby(socket: string, name: string): Promise<void> {
  return asSuperuser(socket, [
    `ALTER SYSTEM SET synchronous_standby_names = '${name}'`,
    'SELECT pg_reload_conf()',
  ]);
}

async function asSuperuser(socket: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ host: socket, user: 'postgres', database: 'postgres' });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
