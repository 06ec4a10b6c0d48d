import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The command line of a process; undefined if the process does not run, or has ended and waits for its parent (a
 * zombie).
 */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return words === '' ? undefined : words.replaceAll('\0', ' ');
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => `${stdout.trim()} `,
    () => undefined,
  );
}

/**
 * True if a process is the PostgreSQL of a data folder. The pid alone proves nothing: after a restart of the machine or
 * container, another process may have the same pid.
 */
export async function isPostmasterOf(pid: number, pgFolder: string): Promise<boolean> {
  const words = await commandLineOf(pid);
  return words?.includes(commandOf(pgFolder)) === true;
}

/** The synchronous form of isPostmasterOf, for use while this process exits. */
export function isPostmasterOfSync(pid: number, pgFolder: string): boolean {
  try {
    const words =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : `${execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim()} `;
    return words.includes(commandOf(pgFolder));
  } catch {
    return false;
  }
}

function commandOf(pgFolder: string): string {
  return `postgres -D ${pgFolder} `;
}

/** True if any process has this pid. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
