import { statfs } from 'node:fs/promises';

/** PostgreSQL can do little with less: a file of a table grows by up to 512 KB at once. */
const leastBytes = 1_024 * 1_024;
const megabyte = 1_024 * 1_024;

/**
 * Whether the disk of a folder has space for a database to write.
 * @returns a sentence with the path where it has none
 */
export async function fullDisk(folder: string): Promise<string | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= leastBytes) return undefined;
  const free = `${(freeBytes / megabyte).toFixed(1)} of ${Math.round((blocks * bsize) / megabyte)} MB`;
  return `The disk of ${folder} is full: ${free} are free. Free space on it, or make it larger.`;
}
