import { execFile } from 'node:child_process';
import { chmod, lchown, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { fileErrorSentence, onErrorCode } from '#server/platform/error-code.ts';
import { createDataDir } from '../data-dir.ts';
import { EngineError } from './engine-error.ts';
import type { EngineUser } from './engine-user.ts';

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

const run = promisify(execFile);

/**
 * Creates DATA_DIR if it is missing. As root it gets mode 0711, even if it exists, because the engine's user has to
 * pass through. Another user's existing folder stays as it is.
 * @returns its path without symlinks, which is also the path that PostgreSQL uses
 */
export async function prepareDataDir(path: string): Promise<string> {
  // These characters would break the path where PostgreSQL quotes it for a shell or writes it as a line of a file.
  if (/["$`\\\n]/.test(resolve(path))) {
    throw new EngineError(
      `DATA_DIR ${path} has one of " $ \` \\ or a line break in its path. Choose another.`,
    );
  }
  try {
    await createDataDir(path);
    const dataDir = await realpath(path);
    if (process.getuid?.() === 0) await chmod(dataDir, 0o711);
    return dataDir;
  } catch (error) {
    throw new EngineError(
      `DATA_DIR ${path} can't be used: ${fileErrorSentence(error)}. Choose a folder that this user may write to.`,
      error,
    );
  }
}

/**
 * Checks that PostgreSQL's user can enter DATA_DIR.
 * @throws EngineError that names the folder which the user can't enter
 */
export async function checkReachable(dataDir: string, user: EngineUser): Promise<void> {
  if (user.spawnAs.uid === undefined || (await canEnter(dataDir, user))) return;
  let closed = dataDir;
  for (let parent = dirname(closed); parent !== closed; parent = dirname(parent)) {
    if (await canEnter(parent, user)) break;
    closed = parent;
  }
  throw new EngineError(
    `PostgreSQL runs as the user ${user.name}, who may not open ${closed}, so it can't reach DATA_DIR ${dataDir}. ` +
      `Choose a DATA_DIR outside of ${closed}, such as /var/lib/ownline, or run: chmod o+x ${closed}`,
  );
}

/** Tries to enter the folder as PostgreSQL's user, because mode bits show neither access lists nor mounts. */
async function canEnter(folder: string, user: EngineUser): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...user.spawnAs, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

export async function createPrivateFolder(path: string, user: EngineUser): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(onErrorCode('EEXIST', undefined));
  await makeFolderPrivate(path, user);
}

export async function makeFolderPrivate(path: string, user: EngineUser): Promise<void> {
  if (!(await lstat(path)).isDirectory())
    throw new EngineError(`${path} must be a folder. Move the file of that name away.`);
  // Sets the mode before the owner: a user who owns the folder could replace it with a symlink.
  await chmod(path, 0o700);
  if (user.spawnAs.uid !== undefined) await lchown(path, user.uid, user.gid);
}

/**
 * Makes the engine's user the owner of a folder and its content. A symlink itself changes its owner, not its target.
 */
export async function changeTreeOwner(folder: string, user: EngineUser): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, name), user.uid, user.gid);
  }
  await lchown(folder, user.uid, user.gid);
}
