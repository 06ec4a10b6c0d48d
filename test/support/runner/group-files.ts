import { dirname } from 'node:path';
import { isSlow } from './find-test-files.ts';

/** Files that one process runs. More of them share the work of loading the service; more of them wait where one hangs. */
const groupMax = 8;
/**
 * Groups test files for processes: neighbours of one folder share a process, which loads the service once. A slow test has
 * a process of its own, because it measures memory, kills processes, or fills a disk.
 * @param processes how many run at a time: a run of few files gets smaller groups
 */
export function groupFiles(files: readonly string[], processes: number): string[][] {
  const filesMax = Math.min(groupMax, Math.ceil(files.length / processes));
  const groups: string[][] = [];
  let folder: string | undefined;
  for (const file of files) {
    const isAlone = isSlow(file);
    const last = groups.at(-1);
    if (!isAlone && dirname(file) === folder && last && last.length < filesMax) last.push(file);
    else groups.push([file]);
    folder = isAlone ? undefined : dirname(file);
  }
  return groups;
}
