import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPidInUse, isPostmasterOf } from './engine-process.ts';
import { socketPort } from './socket-folder.ts';

/** A running PostgreSQL's entries in postmaster.pid. */
export interface PostmasterRecord {
  readonly pid: number;
  readonly pgFolder: string;
  readonly socketFolder: string;
}

/** @returns undefined where nothing has run since the last proper stop */
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
 * Whether PostgreSQL's last start used the program and arguments of a start now, as PostgreSQL recorded them. Then
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
 * Deletes the pid files of a dead PostgreSQL whose pid another process has now: PostgreSQL would take that process for
 * itself and refuse to start. If the pid is free, PostgreSQL detects it by itself. It detects leftover processes of the
 * former one by their shared memory, with or without these files.
 */
export async function removeStalePidFiles(pgFolder: string, socketFolder: string): Promise<void> {
  for (const file of [join(pgFolder, 'postmaster.pid'), join(socketFolder, `.s.PGSQL.${socketPort}.lock`)]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const pid = Number(text.split('\n', 1)[0]);
    if (pid > 0 && isPidInUse(pid) && !(await isPostmasterOf(pid, pgFolder))) await rm(file, { force: true });
  }
}
