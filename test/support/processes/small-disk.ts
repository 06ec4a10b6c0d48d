import { spawn, spawnSync } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#test/support/service/until.ts';

/** A file system of a few megabytes that a test fills. */
export type SmallDisk = Awaited<ReturnType<typeof makeSmallDisk>>;

/** True for root on Linux, who alone may mount a file system. */
export function canMountDisk(): boolean {
  return spawnSync('unshare', ['--mount', 'true']).status === 0;
}

/** Mounts the disk in a new mount namespace, which unmounts it with its last process. @param place an empty folder */
export async function makeSmallDisk(place: string, megabytes: number) {
  await mkdir(place, { recursive: true });
  const mount = `mount -t tmpfs -o size=${megabytes}m,mode=755 tmpfs "$0" && mkdir "$0/mounted" && exec sleep infinity`;
  const holder = spawn('unshare', ['--mount', 'sh', '-c', mount, place], { stdio: 'ignore' });
  const seenFromHere = `/proc/${holder.pid}/root${place}`;
  const isMounted = () => spawnSync('test', ['-d', join(seenFromHere, 'mounted')]).status === 0;
  await until('the disk is mounted', () => {
    if (holder.exitCode !== null) throw new Error('the disk could not be mounted');
    return isMounted();
  });
  const filler = join(seenFromHere, 'filler');
  return {
    /** A folder of the disk, for processes that `command` starts. */
    folder: place,
    /** Path of this folder for the test's process. */
    seenFromHere,
    /** Command line of a program that sees the disk, in the working folder of the test's process. */
    command: (program: string, ...words: string[]): [string, ...string[]] => [
      'nsenter',
      `--target=${holder.pid}`,
      '--mount',
      `--wd=${process.cwd()}`,
      program,
      ...words,
    ],
    /** Writes until the disk is full. */
    fill: async () => {
      const file = await open(filler, 'a');
      try {
        for (let bytes = 1_024 * 1_024; bytes >= 512; ) {
          const { bytesWritten } = await file.write(Buffer.alloc(bytes)).catch(() => ({ bytesWritten: 0 }));
          if (bytesWritten === 0) bytes /= 2;
        }
      } finally {
        await file.close();
      }
    },
    /** Deletes the file of `fill`. */
    free: () => rm(filler),
    remove: () => void holder.kill('SIGKILL'),
  };
}
