import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Linux reports CPU time in hundredths of a second on every machine. */
const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parent: number;
  /** CPU seconds of the process itself; `ended` has those of its children that have exited. */
  readonly own: number;
  readonly ended: number;
}

/** CPU seconds that a process has used. Linux only, NaN elsewhere. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  return (await timesOf(pid))?.own ?? Number.NaN;
}

/** CPU seconds of all PostgreSQL processes of a data folder, exited ones included. Linux only, NaN elsewhere. */
export async function cpuSecondsOfEngine(dataDir: string): Promise<number> {
  const [first] = (await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8')).split('\n');
  const postmaster = Number(first);
  const own = await timesOf(postmaster);
  if (!own) return Number.NaN;
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const all = await Promise.all(pids.map(timesOf));
  return all.reduce(
    (sum, times) => sum + (times?.parent === postmaster ? times.own : 0),
    own.own + own.ended,
  );
}

/** Does work. @returns its result, its seconds, and the CPU seconds of a service's Node and PostgreSQL meanwhile */
export async function measureCpu<T>(
  { pid }: { readonly pid: number },
  dataDir: string,
  work: () => Promise<T>,
) {
  const read = async () => [await cpuSecondsOf(pid), await cpuSecondsOfEngine(dataDir)] as const;
  const [before, startedMs] = [await read(), performance.now()];
  const result = await work();
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await read();
  return { result, seconds, node: after[0] - before[0], postgres: after[1] - before[1] };
}

async function timesOf(pid: number): Promise<ProcessTimes | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The fields follow the process name, which is in parentheses and may contain anything.
  const fields = text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  if (!fields) return undefined;
  const [, parent = 0] = fields;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent, own: (user + system) / ticksPerSecond, ended: (endedUser + endedSystem) / ticksPerSecond };
}

/** Seconds that all cores together have been idle, also while they waited for a disk. Linux only, NaN elsewhere. */
export async function idleSecondsOfCores(): Promise<number> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  const [, , , idle = Number.NaN, waiting = 0] = text.split('\n', 1)[0]?.match(/\d+/g)?.map(Number) ?? [];
  return (idle + waiting) / ticksPerSecond;
}
