import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPidInUse, isPostmasterOf } from './engine-process.ts';
import { socketPort } from './socket-folder.ts';

/** Entries in the postmaster.pid of a running PostgreSQL. */
export interface PostmasterRecord {
  readonly pid: number;
  readonly pgFolder: string;
  readonly socketFolder: string;
}

/** Reads the record of a running PostgreSQL. @returns undefined if nothing has run since the last proper stop */
export async function readPostmasterRecord(pgFolder: string): Promise<PostmasterRecord | undefined> {
  const text = await readFile(join(pgFolder, 'postmaster.pid'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    },
  );
  const [pid, recordedFolder, , , socketFolder] = text.split('\n');
  if (!Number.isInteger(Number(pid)) || Number(pid) <= 0) return undefined;
  return { pid: Number(pid), pgFolder: recordedFolder ?? '', socketFolder: socketFolder ?? '' };
}

/**
 * True if PostgreSQL's last start, by its own record, used the same program and arguments as a start now would. Then
 * version, folders and settings are the same.
 */
export async function wasStartedWith(
  pgFolder: string,
  program: string,
  words: readonly string[],
): Promise<boolean> {
  const recorded = await readFile(join(pgFolder, 'postmaster.opts'), 'utf8').catch(() => '');
  return recorded.trimEnd() === [program, ...words.map((word) => `"${word}"`)].join(' ');
}

/**
 * Deletes the pid files of a dead PostgreSQL if another process has its pid now: PostgreSQL would otherwise refuse to
 * start. If the pid is free, PostgreSQL ignores the files by itself. Even without the files, PostgreSQL detects
 * leftover child processes by their shared memory.
 */
export async function removeStalePidFiles(pgFolder: string, socketFolder: string): Promise<void> {
  for (const file of [join(pgFolder, 'postmaster.pid'), join(socketFolder, `.s.PGSQL.${socketPort}.lock`)]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const pid = Number(text.split('\n', 1)[0]);
    if (pid > 0 && isPidInUse(pid) && !(await isPostmasterOf(pid, pgFolder))) await rm(file, { force: true });
  }
}
