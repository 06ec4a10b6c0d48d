import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Ends a process group at once. */
export function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // There is none left.
  }
}

/**
 * Ends the processes that a test file left: the rest of its process group, and those that name its folder in
 * arguments or TMPDIR.
 * @returns the command lines of those
 */
export async function endStrays(leader: number, folder: string): Promise<string[]> {
  const left: string[] = [];
  const strays = (await listProcesses()).filter(
    ({ pid, group, words, environment }) =>
      pid !== process.pid &&
      (group === leader || words.includes(folder) || environment.includes(`TMPDIR=${folder}`)),
  );
  endGroup(leader);
  for (const { pid, words } of strays) {
    left.push(words.trim());
    try {
      // PostgreSQL frees its shared memory on SIGQUIT; others end by it too.
      process.kill(pid, words.includes('postgres -D ') ? 'SIGQUIT' : 'SIGKILL');
    } catch {
      // It went with its group.
    }
  }
  return left;
}

interface Process {
  readonly pid: number;
  readonly group: number;
  readonly words: string;
  /** '' where it can't be read, or is another user's. */
  readonly environment: string;
}

async function listProcesses(): Promise<Process[]> {
  return process.platform === 'linux' ? listByProc() : listByPs();
}

async function listByProc(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string, name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [stat, words, environment] = await Promise.all([
        read(pid, 'stat'),
        read(pid, 'cmdline'),
        read(pid, 'environ'),
      ]);
      // pid (name) state parent group: the name may hold spaces and brackets.
      const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      return { pid: Number(pid), group, words: words.replaceAll('\0', ' '), environment };
    }),
  );
  // A zombie has no words.
  return found.filter(({ words }) => words !== '');
}

async function listByPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,pgid=,command=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, group, words] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return words === undefined ? [] : [{ pid: Number(pid), group: Number(group), words, environment: '' }];
  });
}
