import { isSlow } from './find-test-files.ts';

/** Files that one process runs. More of them share the work of loading the service; more of them wait where one hangs. */
const groupMax = 16;
/** Fewer do not pay: to load the service takes as long as the tests of a small file. */
const groupMin = 4;

/**
 * Groups test files for processes. Neighbours share a process, which loads the service once. A slow test has a process of
 * its own, because it measures memory, kills processes, or fills a disk. The slow ones come first. The groups become
 * smaller towards the end, so that the last ones end at about the same time.
 * @param processes how many run at a time: a run of few files gets smaller groups
 */
export function groupFiles(files: readonly string[], processes: number): string[][] {
  const fast = files.filter((file) => !isSlow(file));
  const groups = files.filter(isSlow).map((file) => [file]);
  const filesMin = Math.min(groupMin, Math.ceil(fast.length / processes));
  while (fast.length > 0) {
    const share = Math.ceil(fast.length / (2 * processes));
    groups.push(fast.splice(0, Math.min(groupMax, Math.max(filesMin, share))));
  }
  return groups;
}
