import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { failpoint } from '#server/platform/failpoint.ts';
import { fileErrorSentence, isFileError } from '#server/platform/file-error.ts';
import { BackupError, ExistingFileError } from './backup-error.ts';

/** A new name beside a file; a file under it is not complete, whatever is in it. No two backups share one. */
function partialPathOf(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}.partial`;
}

/**
 * Writes a new file that is complete and on the disk, or does not exist: under a name of its own first. Only its owner
 * may read it.
 * @param check reads the whole file back, before it gets its name
 * @throws ExistingFileError where a file of that name exists, and BackupError that names the path where the disk refuses it
 */
export async function writeNewFile<T>(
  path: string,
  write: (destination: Writable) => Promise<T>,
  check: (partial: string) => Promise<void> = async () => undefined,
): Promise<T> {
  await refuseExisting(path);
  const partial = partialPathOf(path);
  let isOurs = false;
  try {
    const file = await open(partial, 'wx', 0o600);
    isOurs = true;
    let result: T;
    try {
      await file.chmod(0o600);
      result = await write(destinationOf(file));
      await file.sync();
    } finally {
      await file.close();
    }
    failpoint('backup file written');
    await check(partial);
    await nameFile(partial, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    if (isOurs) await rm(partial, { force: true }).catch(() => undefined);
    throw explain(error, path);
  }
}

/** Errors of a file system without hard links, such as FAT and some network shares. */
const noLinkCodes = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives a file its name. A link replaces no file that got the name meanwhile; a rename would. */
async function nameFile(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    const code = isFileError(error) ? error.code : undefined;
    if (code === 'EEXIST') throw new ExistingFileError(path);
    if (!noLinkCodes.includes(code ?? '')) throw error;
    await refuseExisting(path);
    await rename(partial, path);
    return;
  }
  // The file is complete under its name, even where the other name stays.
  await rm(partial, { force: true }).catch(() => undefined);
}

/** A stream of node:fs would close the file, which is flushed first. */
function destinationOf(file: FileHandle): Writable {
  return new Writable({
    write(bytes: Buffer, _encoding, done) {
      writeAll(file, bytes).then(() => done(), done);
    },
  });
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let left = bytes; left.length > 0; ) {
    const { bytesWritten } = await file.write(left);
    left = left.subarray(bytesWritten);
  }
}

async function refuseExisting(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found) throw new ExistingFileError(path);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function explain(error: unknown, path: string): unknown {
  if (error instanceof BackupError) return error;
  const isOfFile =
    isFileError(error) || (error instanceof Error && 'syscall' in error && !('address' in error));
  if (!isOfFile) return error;
  return new BackupError(
    `The backup can't be written to ${path}: ${fileErrorSentence(error)}. Choose another place, or make room; no part of it was left.`,
    error,
  );
}
