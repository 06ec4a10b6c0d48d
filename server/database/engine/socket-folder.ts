import { lstat, mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onErrorCode } from '#server/platform/error-code.ts';
import { EngineError } from './engine-error.ts';
import {
  checkReachable,
  createPrivateFolder,
  type EngineLayout,
  makeFolderPrivate,
} from './engine-folders.ts';
import type { EngineUser } from './engine-user.ts';

/** Part of the socket's file name. PostgreSQL listens on no TCP port. */
export const socketPort = 5432;

const socketFile = `/.s.PGSQL.${socketPort}`;

/** A socket's path has at most 107 bytes on Linux and 103 on macOS. PostgreSQL refuses longer ones. */
const socketPathMaxBytes = 103;

/**
 * Prepares the socket's folder with mode 0700, because PostgreSQL trusts every process that reaches the socket. The
 * folder is DATA_DIR/socket if that path is short enough, otherwise one in the temporary folder. Every start reuses it,
 * so that the database's URL stays the same.
 */
export async function prepareSocketFolder(layout: EngineLayout, user: EngineUser): Promise<string> {
  if (fits(layout.usualSocketFolder)) {
    await createPrivateFolder(layout.usualSocketFolder, user);
    return recordSocketFolder(layout, layout.usualSocketFolder);
  }
  const recorded = await readSocketFolder(layout);
  if (recorded !== undefined && fits(recorded) && (await isPrivateTo(recorded, user.uid))) return recorded;
  return recordSocketFolder(layout, await makeShortFolder(user));
}

/**
 * Creates the folder again if a cleaner of temporary files deleted it, because connections use its path. A folder of
 * another user is refused.
 */
export async function restoreSocketFolder(folder: string, user: EngineUser): Promise<void> {
  if (await isPrivateTo(folder, user.uid)) return;
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new EngineError(
      `${folder}, the folder of the embedded database's socket, is not private to its user. Delete it.`,
      error,
    );
  });
  await makeFolderPrivate(folder, user);
}

export async function hasSocket(folder: string): Promise<boolean> {
  return (await lstat(folder + socketFile).catch(() => undefined)) !== undefined;
}

export async function readSocketFolder(layout: EngineLayout): Promise<string | undefined> {
  const text = await readFile(layout.socketFolderRecord, 'utf8').catch(onErrorCode('ENOENT', ''));
  return text.trim() === '' ? undefined : text.trim();
}

/**
 * True if only this user can enter the folder. After a cleaner of temporary files ran, another user may have created a
 * folder of the same name, whose socket must not be used.
 */
export async function isPrivateTo(folder: string, uid: number): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === uid && (found.mode & 0o777) === 0o700;
}

async function makeShortFolder(user: EngineUser): Promise<string> {
  const refusals: unknown[] = [];
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    if (!fits(join(parent, 'ownline-XXXXXX'))) continue;
    try {
      await checkReachable(parent, user);
      const folder = await mkdtemp(join(parent, 'ownline-'));
      await makeFolderPrivate(folder, user);
      return folder;
    } catch (error) {
      refusals.push(error);
    }
  }
  throw new EngineError(
    'No folder for the socket of the embedded database: DATA_DIR is too long for one and no temporary folder ' +
      `can be used. Choose a DATA_DIR of at most ${socketPathMaxBytes - socketFile.length - 8} characters.`,
    new AggregateError(refusals),
  );
}

function fits(folder: string): boolean {
  return Buffer.byteLength(folder + socketFile) <= socketPathMaxBytes;
}

async function recordSocketFolder(layout: EngineLayout, folder: string): Promise<string> {
  const unfinished = `${layout.socketFolderRecord}.new`;
  await writeFile(unfinished, `${folder}\n`, { mode: 0o644 });
  await rename(unfinished, layout.socketFolderRecord);
  return folder;
}
