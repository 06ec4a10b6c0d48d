import { spawn, spawnSync } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './until.ts';

/** A file system of a few megabytes, to be filled. */
export interface SmallDisk {
  /** A folder of the disk, as the processes see it that are started with `command`. */
  readonly folder: string;
  /** The same folder for this process. */
  readonly seenFromHere: string;
  /** Starts a program that sees the disk, in the working folder of this process. */
  readonly command: (program: string, ...words: string[]) => [string, ...string[]];
  /** Writes until nothing more fits. */
  readonly fill: () => Promise<void>;
  /** Deletes what `fill` has written. */
  readonly free: () => Promise<void>;
  readonly remove: () => void;
}

/** Only root of a Linux machine may mount one. */
export function canMountDisk(): boolean {
  return spawnSync('unshare', ['--mount', 'true']).status === 0;
}

/**
 * Mounts it in a mount namespace of its own, which ends with its last process. So nothing stays mounted where a test
 * is ended before its time.
 * @param place an empty folder
 */
export async function makeSmallDisk(place: string, megabytes: number): Promise<SmallDisk> {
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
    folder: place,
    seenFromHere,
    command: (program, ...words) => [
      'nsenter',
      `--target=${holder.pid}`,
      '--mount',
      `--wd=${process.cwd()}`,
      program,
      ...words,
    ],
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
    free: () => rm(filler),
    remove: () => void holder.kill('SIGKILL'),
  };
}
