import { readFile, statfs } from 'node:fs/promises';

const folder = '/dev/shm';
/** Databases of a run of the fast tests take 200 MB, and their log up to 1 GB. */
const freeMinBytes = 2 ** 31;

/**
 * Finds Linux's file system in memory. A database has 700 files, which take longer to create on a disk than most tests.
 * @returns undefined if there is none, programs may not run in it, or it has less than 2 GiB free, as in a container
 */
export async function findMemoryFolder(): Promise<string | undefined> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const mount = mounts.split('\n').findLast((line) => line.split(' ')[1] === folder);
  const [, , type, options = ''] = mount?.split(' ') ?? [];
  if (type !== 'tmpfs' || options.split(',').includes('noexec')) return undefined;
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= freeMinBytes ? folder : undefined;
}
