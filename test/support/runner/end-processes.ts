import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Kills a process group. */
export function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The process group has ended already.
  }
}

/**
 * Ends a test file's processes: its group, and those with its folder in arguments or TMPDIR.
 * @returns their command lines
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
      // PostgreSQL frees its shared memory on SIGQUIT.
      process.kill(pid, words.includes('postgres -D ') ? 'SIGQUIT' : 'SIGKILL');
    } catch {
      // The process has ended already, with its group.
    }
  }
  return left;
}

interface Process {
  readonly pid: number;
  readonly group: number;
  readonly words: string;
  /** Environment of the process; '' if it can't be read or belongs to another user. */
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
      // Fields of /proc/PID/stat: pid, (name), state, parent, group. The name may contain spaces and brackets.
      const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      return { pid: Number(pid), group, words: words.replaceAll('\0', ' '), environment };
    }),
  );
  // A zombie process has no command line.
  return found.filter(({ words }) => words !== '');
}

async function listByPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,pgid=,command=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, group, words] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return words === undefined ? [] : [{ pid: Number(pid), group: Number(group), words, environment: '' }];
  });
}
