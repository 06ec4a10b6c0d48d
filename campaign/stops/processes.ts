import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly words: string;
}

/**
 * The processes that belong to a data folder, as /proc shows them: by their arguments, their working folder, or DATA_DIR in
 * their environment. One that has ended and waits to be reaped is none.
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

/** The service itself among them, without npm and PostgreSQL. */
export function serviceOf(dataDir: string): Process | undefined {
  return processesOf(dataDir).find(({ words }) => /^\S*node .*server\/main\.ts$/.test(words));
}

/** Sends a signal to a process, which may be gone by now. */
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
