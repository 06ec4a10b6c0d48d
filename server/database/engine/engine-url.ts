import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EngineError } from './engine-error.ts';
import { engineLayout } from './engine-layout.ts';
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
    `No embedded database runs in DATA_DIR ${layout.dataDir}. Start it with \`npm start\` first, or set DATA_DIR to ` +
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
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw notRunning;
    if (code !== 'EACCES') throw error;
    throw new EngineError(
      `The embedded database in DATA_DIR ${layout.dataDir} belongs to another user. Run this as that user or as root.`,
      error,
    );
  }
}
