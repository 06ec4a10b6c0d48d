import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf, onErrorCode } from '#server/platform/error-code.ts';
import { socketPort } from './socket-folder.ts';

/** Entries in the postmaster.pid of a running PostgreSQL. */
export interface PostmasterRecord {
  readonly pid: number;
  readonly pgFolder: string;
  readonly socketFolder: string;
}

/** Reads the record of a running PostgreSQL. @returns undefined if nothing has run since the last proper stop */
export async function readPostmasterRecord(pgFolder: string): Promise<PostmasterRecord | undefined> {
  const file = join(pgFolder, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(onErrorCode('ENOENT', ''));
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
    if (pid > 0 && isPidInUse(pid) && !isPostmasterOf(pid, pgFolder)) await rm(file, { force: true });
  }
}

/**
 * The command line of a process; undefined if the process does not run, or has ended and waits for its parent (a
 * zombie). It is synchronous, for use while this process exits.
 */
export function commandLineOf(pid: number): string | undefined {
  try {
    const words =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : `${execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim()} `;
    return words === '' ? undefined : words;
  } catch {
    return undefined;
  }
}

/**
 * True if a process is the PostgreSQL of a data folder. The pid alone proves nothing: after a restart of the machine or
 * container, another process may have the same pid.
 */
export function isPostmasterOf(pid: number, pgFolder: string): boolean {
  return commandLineOf(pid)?.includes(`postgres -D ${pgFolder} `) === true;
}

function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}
