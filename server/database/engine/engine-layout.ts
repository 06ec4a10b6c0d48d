import { join } from 'node:path';

/** Paths of the embedded database's parts below DATA_DIR. */
export interface EngineLayout {
  readonly dataDir: string;
  /** PostgreSQL's data folder, with the database. */
  readonly pgFolder: string;
  /** Copies of PostgreSQL's programs, one folder per version. */
  readonly programsFolder: string;
  /** The folder of PostgreSQL's socket, unless its path is too long for a socket. */
  readonly usualSocketFolder: string;
  /** A file that records the path of the socket's folder. */
  readonly socketFolderRecord: string;
  readonly logFile: string;
  readonly lockFile: string;
  /** A file with the id of the process that has the lock. */
  readonly lockOwnerFile: string;
}

export function engineLayout(dataDir: string): EngineLayout {
  return {
    dataDir,
    pgFolder: join(dataDir, 'pg'),
    programsFolder: join(dataDir, 'engine'),
    usualSocketFolder: join(dataDir, 'socket'),
    socketFolderRecord: join(dataDir, 'socket-folder'),
    logFile: join(dataDir, 'postgres.log'),
    lockFile: join(dataDir, 'lock'),
    lockOwnerFile: join(dataDir, 'lock-owner'),
  };
}
