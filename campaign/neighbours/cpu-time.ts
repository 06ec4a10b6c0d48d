import { readdirSync, readFileSync } from 'node:fs';
import type { Ownline } from '../ownline.ts';

/**
 * CPU time in ms. Linux counts it in nanoseconds per thread, so other work on the machine does not distort it.
 * `eventLoop` is that of the service's first thread. `otherThreads` hash passwords, look up names and collect garbage.
 * `postgres` is that of all processes of PostgreSQL. `waited` is how long the event loop had work but no core.
 */
export const cpuParts = ['eventLoop', 'otherThreads', 'postgres', 'waited'] as const;
export type CpuPart = (typeof cpuParts)[number];
export type CpuTime = Readonly<Record<CpuPart, number>>;

/** Computes a CPU time part by part. */
export function cpuTimeOf(of: (part: CpuPart) => number): CpuTime {
  return {
    eventLoop: of('eventLoop'),
    otherThreads: of('otherThreads'),
    postgres: of('postgres'),
    waited: of('waited'),
  };
}

/** CPU time of all processes and threads together. */
export function totalMs({ eventLoop, otherThreads, postgres }: CpuTime): number {
  return eventLoop + otherThreads + postgres;
}

const sampleMs = 25;

/** Reads CPU time and memory of the running service and its PostgreSQL. */
export class Meter {
  readonly #service: number;
  readonly #postmaster: number;

  private constructor(service: number, postmaster: number) {
    this.#service = service;
    this.#postmaster = postmaster;
  }

  static async of(ownline: Ownline): Promise<Meter> {
    return new Meter(ownline.pid, await ownline.postmasterPid());
  }

  /** Starts to count. @returns a function that tells the CPU time since then, and how many ms passed */
  start(): () => { readonly cpu: CpuTime; readonly passedMs: number } {
    const [before, startedMs] = [this.#read(), performance.now()];
    return () => {
      const after = this.#read();
      const cpu = cpuTimeOf((part) => Math.max(0, after[part] - before[part]));
      return { cpu, passedMs: performance.now() - startedMs };
    };
  }

  residentBytes(): number {
    return residentBytes(this.#service);
  }

  /** Runs work. @returns its result, and the largest growth of the service's memory meanwhile */
  async growthDuring<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly grownBytes: number }> {
    const before = this.residentBytes();
    let most = before;
    const sampler = setInterval(() => {
      most = Math.max(most, this.residentBytes());
    }, sampleMs);
    const result = await work().finally(() => clearInterval(sampler));
    return { result, grownBytes: Math.max(most, this.residentBytes()) - before };
  }

  #read(): CpuTime {
    const tasks = `/proc/${this.#service}/task`;
    const [eventLoop, waited] = timesOf(`${tasks}/${this.#service}`);
    const threads = readdirSync(tasks).map((thread) => timesOf(`${tasks}/${thread}`)[0]);
    const postmaster = `/proc/${this.#postmaster}`;
    const children = readFileSync(`${postmaster}/task/${this.#postmaster}/children`, 'utf8').split(' ');
    const backends = children.filter(Boolean).map((pid) => timesOf(`/proc/${pid}`)[0]);
    return {
      ...{ eventLoop, waited },
      otherThreads: sum(threads) - eventLoop,
      postgres: sum([timesOf(postmaster)[0], ...backends]),
    };
  }
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024;
}

/** Returns how long a thread ran and how long it waited for a core, in ms; 0 for a thread that has ended. */
function timesOf(folder: string): [number, number] {
  try {
    const [ran, waited] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    return [Number(ran) / 1e6, Number(waited) / 1e6];
  } catch {
    return [0, 0];
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
