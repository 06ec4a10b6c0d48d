import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { onErrorCode } from '#server/platform/error-code.ts';
import { commandLine, startCommand } from '#server/platform/process/product-version.ts';
import { EngineError } from './engine-error.ts';
import type { EngineLayout } from './engine-folders.ts';

export interface EngineLock {
  release(): Promise<void>;
}

const SQLITE_BUSY = 5;

/**
 * Makes this process the only owner of DATA_DIR, or throws an error that names the owner.
 *
 * The lock is the kernel's, on an empty file, and ends with its process: a kill -9 leaves no stale lock. It also works
 * between containers that share a volume, where process ids of another container mean nothing. Node offers such locks
 * only through SQLite, which is used for nothing else. No other code of this process may open the file, because closing
 * it would release the lock.
 */
export async function lockDataDir(layout: EngineLayout): Promise<EngineLock> {
  await makeLockFile(layout.lockFile);
  const lock = takeLock(layout);
  if (lock === undefined) throw new EngineError(await describeOwner(layout));
  try {
    await writeFile(layout.lockOwnerFile, `${process.pid}\n`);
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    async release() {
      await rm(layout.lockOwnerFile, { force: true });
      if (lock.isOpen) lock.close();
    },
  };
}

/**
 * True if a server or command owns DATA_DIR, or if this user can't tell. If false, a PostgreSQL that runs there
 * outlived its killed owner.
 */
export function isDataDirOwned(layout: EngineLayout): boolean {
  try {
    const lock = takeLock(layout);
    lock?.close();
    return lock === undefined;
  } catch {
    return true;
  }
}

/**
 * Creates the lock file, inaccessible for other users, who could otherwise lock it. This process does not open the file
 * again, because closing it would release the lock.
 */
async function makeLockFile(lockFile: string): Promise<void> {
  await writeFile(lockFile, '', { mode: 0o600, flag: 'wx' }).catch(onErrorCode('EEXIST', undefined));
  await chmod(lockFile, 0o600);
}

function takeLock({ dataDir, lockFile }: EngineLayout): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile, { timeout: 0 });
    // With the journal in memory, SQLite writes nothing and needs no second file.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw new EngineError(
      `Can't lock ${lockFile}. DATA_DIR ${dataDir} must be writable for this user, on a file system that has locks.`,
      error,
    );
  }
}

async function describeOwner({ dataDir, lockOwnerFile }: EngineLayout): Promise<string> {
  const pid = (await readFile(lockOwnerFile, 'utf8').catch(() => '')).trim();
  return [
    `DATA_DIR ${dataDir} is in use by ${pid === '' ? 'another process' : `process ${pid}`}, which runs its embedded database.`,
    'Stop that process first, or run this one beside it on the same database, with the same SECRETS_KEY:',
    `  DATABASE_URL=$(${commandLine} database-url) ${startCommand}`,
  ].join('\n');
}
