import { existsSync } from 'node:fs';
import type { Config } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { withDatabaseErrors } from './database-errors.ts';
import { startEngine } from './engine/engine.ts';
import { findEngineUrl } from './engine/engine-connection.ts';
import { engineLayout } from './engine/engine-folders.ts';
import { isDataDirOwned } from './engine/engine-lock.ts';

/** The URL of the database: DATABASE_URL, or that of the embedded PostgreSQL that runs in DATA_DIR. */
export function databaseUrlOf(config: Config): Promise<string> {
  return config.databaseUrl === undefined
    ? findEngineUrl(config.dataDir)
    : Promise.resolve(config.databaseUrl);
}

/**
 * Runs work with the database's URL. Without DATABASE_URL this is the embedded PostgreSQL of DATA_DIR. If it does not
 * run, it is started for the work and stopped afterwards.
 * @param create true creates a missing embedded database
 * @param signal aborts the start of the embedded database
 */
export async function withDatabaseUrl<T>(
  config: Config,
  create: boolean,
  work: (databaseUrl: string) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (config.databaseUrl !== undefined) {
    const { databaseUrl } = config;
    return withDatabaseErrors(databaseUrl, () => work(databaseUrl));
  }
  const running = await findEngineUrl(config.dataDir).catch(async (error: unknown) => {
    if (!create && !existsSync(engineLayout(config.dataDir).pgFolder)) throw error;
    return undefined;
  });
  // The engine takes over a PostgreSQL that a killed command left, and ends it after the work.
  if (running !== undefined && isDataDirOwned(engineLayout(config.dataDir))) return work(running);
  const engine = await startEngine({ dataDir: config.dataDir, logger: createLogger('error'), signal });
  try {
    return await work(engine.databaseUrl);
  } finally {
    await engine.stop();
  }
}
