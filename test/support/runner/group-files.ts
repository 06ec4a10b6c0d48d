import { isSlow } from './find-test-files.ts';

/** Greatest number of files in a process. Loading the service takes 1.3 s of CPU a process, but more files wait if one hangs. */
const groupMax = 64;
/** Smallest number of files in a process, as loading the service takes as long as the tests of a small file. */
const groupMin = 4;

/**
 * Groups test files for processes. Neighbours share a process, which loads the service once.
 * A slow test has its own process, as it measures memory, kills processes, or fills a disk. Slow tests come first.
 * Groups become smaller towards the end, so that the last ones end at about the same time.
 * @param processes number of simultaneous processes: a run of few files gets smaller groups
 */
export function groupFiles(files: readonly string[], processes: number): string[][] {
  const fast = files.filter((file) => !isSlow(file));
  const groups = files.filter(isSlow).map((file) => [file]);
  const filesMin = Math.min(groupMin, Math.ceil(fast.length / processes));
  while (fast.length > 0) {
    const share = Math.ceil((2 * fast.length) / (3 * processes));
    groups.push(fast.splice(0, Math.min(groupMax, Math.max(filesMin, share))));
  }
  return groups;
}
