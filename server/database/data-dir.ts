import { statfsSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';

/**
 * Creates DATA_DIR if it is missing, with mode 0700. As root the mode is 0711, so that PostgreSQL's user can pass
 * through it but not list it. An existing folder stays as it is.
 */
export async function createDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** Flushes a file or a folder to the disk. */
export async function flushPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

const megabyte = 1_024 * 1_024;

/** PostgreSQL writes its write-ahead log in files of 16 MB, and needs a new one for every write and for recovery. */
export const walFreeMinBytes = 32 * megabyte;

/** Minimum of free space for other files: a table's file grows by up to 512 KB at once. */
const leastBytes = megabyte;

/**
 * Checks if the disk of a folder has enough space for a database to write. It is synchronous, for code that creates an
 * error's message.
 * @returns a sentence with the path if the disk has less than `neededBytes`; undefined otherwise, and for a missing
 * folder
 */
export function describeFullDisk(folder: string, neededBytes = leastBytes): string | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    if (bavail * bsize >= neededBytes) return undefined;
    const free = `${((bavail * bsize) / megabyte).toFixed(1)} of ${Math.round((blocks * bsize) / megabyte)} MB`;
    return `The disk of ${folder} is full: ${free} are free. Free space on it, or make it larger.`;
  } catch {
    return undefined;
  }
}
