import { isSlow } from './find-test-files.ts';

/** Greatest number of files in a process. Loading the service takes 1.3 s of CPU a process, but more files wait if one hangs. */
const groupMax = 64;
/** Smallest number of files in a process: loading the service takes about as long as the tests of a small file. */
const groupMin = 5;
const slowGroupMax = 4;

/** Folders whose slow tests measure memory, kill processes or fill a disk: each file has its own process. */
const apart = /^test\/(backups|campaign|cli|clients|database|device-protocol|e2e|media)\//;

/**
 * Groups test files for processes. Neighbours share a process, which loads the service once. Slow tests come first.
 * Groups become smaller towards the end, so that the last ones end at about the same time.
 * @param processes number of simultaneous processes: a run of few files gets smaller groups
 */
export function groupFiles(files: readonly string[], processes: number): string[][] {
  const fast = files.filter((file) => !isSlow(file));
  const slow = files.filter(isSlow);
  const sharing = slow.filter((file) => !apart.test(file));
  const shared = Math.min(slowGroupMax, Math.ceil(sharing.length / processes));
  const groups: string[][] = [];
  while (sharing.length > 0) groups.push(sharing.splice(0, shared));
  groups.push(...slow.filter((file) => apart.test(file)).map((file) => [file]));
  const filesMin = Math.min(groupMin, Math.ceil(fast.length / processes));
  while (fast.length > 0) {
    const share = Math.ceil(fast.length / processes);
    groups.push(fast.splice(0, Math.min(groupMax, Math.max(filesMin, share))));
  }
  return groups;
}
