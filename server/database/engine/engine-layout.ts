import { join } from 'node:path';

export type EngineLayout = Readonly<ReturnType<typeof engineLayout>>;

/** Paths of the embedded database's parts below DATA_DIR. */
export function engineLayout(dataDir: string) {
  return {
    dataDir,
    /** PostgreSQL's data folder, with the database. */
    pgFolder: join(dataDir, 'pg'),
    /** Copies of PostgreSQL's programs, one folder per version. */
    programsFolder: join(dataDir, 'engine'),
    /** The folder of PostgreSQL's socket, unless its path is too long for a socket. */
    usualSocketFolder: join(dataDir, 'socket'),
    /** A file that records the path of the socket's folder. */
    socketFolderRecord: join(dataDir, 'socket-folder'),
    logFile: join(dataDir, 'postgres.log'),
    lockFile: join(dataDir, 'lock'),
    /** A file with the id of the process that has the lock. */
    lockOwnerFile: join(dataDir, 'lock-owner'),
  };
}
