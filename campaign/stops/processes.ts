import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly words: string;
}

/**
 * Finds the processes of a data folder in /proc, by their arguments, working folder or DATA_DIR. Zombies are not
 * included.
 */
export function processesOf(dataDir: string): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    const words = read(() => readFileSync(`/proc/${name}/cmdline`, 'utf8'))
      .replaceAll('\0', ' ')
      .trim();
    if (words === '') return [];
    const isOf =
      words.includes(dataDir) ||
      read(() => readlinkSync(`/proc/${name}/cwd`)).startsWith(dataDir) ||
      read(() => readFileSync(`/proc/${name}/environ`, 'utf8')).includes(`DATA_DIR=${dataDir}\0`);
    return isOf ? [{ pid: Number(name), words }] : [];
  });
}

/** The service's process, without npm and PostgreSQL. */
export function serviceOf(dataDir: string): Process | undefined {
  return processesOf(dataDir).find(({ words }) => /^\S*node .*server\/main\.ts$/.test(words));
}

/** Sends a signal to a process, which may have ended. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Processes of other users, and those that have just ended, are not readable. */
function read(what: () => string): string {
  try {
    return what();
  } catch {
    return '';
  }
}
