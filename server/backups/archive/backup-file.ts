import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { flushPath } from '#server/database/data-dir.ts';
import { errorCodeOf, fileErrorSentence, isFileError } from '#server/platform/error-code.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { BackupError, ExistingFileError } from './backup-error.ts';

/**
 * Makes a unique name for the incomplete file, beside the final one. A file of such a name counts as incomplete, even
 * if all bytes are there.
 */
function partialPathOf(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}.partial`;
}

/**
 * Writes a new file under a temporary name, flushes it, and then gives it its name. So the file is complete or does not
 * exist. Only its owner may read it.
 * @param check reads the whole temporary file back, before the file gets its name
 * @throws ExistingFileError if the name is in use; BackupError with the path if the disk refuses the file
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
    await flushPath(dirname(path));
    return result;
  } catch (error) {
    if (isOurs) await rm(partial, { force: true }).catch(() => undefined);
    throw explain(error, path);
  }
}

/** Errors of a file system without hard links, such as FAT and some network shares. */
const noLinkCodes = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Gives a file its final name with a hard link. Unlike a rename, a link never replaces a file that took the name
 * meanwhile.
 */
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
  // The file is complete under its final name, so a temporary name that can't be removed does no harm.
  await rm(partial, { force: true }).catch(() => undefined);
}

/** A stream of node:fs would close the file at its end, before it can be flushed. */
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

const remedies: Readonly<Record<string, string>> = {
  ENOENT: 'Make it',
  ENOTDIR: 'Make it',
  EACCES: 'Let this user write there',
  EPERM: 'Let this user write there',
  ENOSPC: 'Free space on the disk',
  EDQUOT: 'Free space on the disk',
};

function explain(error: unknown, path: string): unknown {
  if (error instanceof BackupError) return error;
  const isOfFile =
    isFileError(error) || (error instanceof Error && 'syscall' in error && !('address' in error));
  if (!isOfFile) return error;
  const remedy = remedies[errorCodeOf(error) ?? ''];
  const reason = remedy === 'Make it' ? `there is no folder ${dirname(path)}` : fileErrorSentence(error);
  return new BackupError(
    `The backup can't be written to ${path}: ${reason}. ${remedy === undefined ? 'Choose' : `${remedy}, or choose`} another path. No partial file remains.`,
    error,
  );
}
