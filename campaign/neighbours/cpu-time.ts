import { readdirSync, readFileSync } from 'node:fs';
import type { Ownline } from '../ownline.ts';

/** CPU time in ms; Linux counts it in nanoseconds for each thread, so that it is exact where other work runs beside it. */
export interface CpuTime {
  /** Of the service's first thread, which runs its event loop. */
  readonly eventLoopMs: number;
  /** Of the service's other threads: password hashing, name look-ups, garbage collection. */
  readonly otherThreadsMs: number;
  /** Of all processes of its PostgreSQL. */
  readonly postgresMs: number;
}

/** Of a service that runs now. */
export async function meterOf(ownline: Ownline): Promise<CpuMeter> {
  return new CpuMeter(ownline.pid, await ownline.postmasterPid());
}

/** Reads CPU times of a service and its PostgreSQL. */
export class CpuMeter {
  readonly #service: number;
  readonly #postmaster: number | undefined;

  /** @param postmaster the first process of its PostgreSQL, where it has one */
  constructor(service: number, postmaster: number | undefined) {
    this.#service = service;
    this.#postmaster = postmaster;
  }

  read(): CpuTime {
    const eventLoopMs = runMsOf(`/proc/${this.#service}/task/${this.#service}/schedstat`);
    const threads = readdirSync(`/proc/${this.#service}/task`).map((thread) =>
      runMsOf(`/proc/${this.#service}/task/${thread}/schedstat`),
    );
    const postmaster = this.#postmaster;
    const backends = postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)];
    return {
      eventLoopMs,
      otherThreadsMs: Math.max(0, sum(threads) - eventLoopMs),
      postgresMs: sum(backends.map((pid) => runMsOf(`/proc/${pid}/schedstat`))),
    };
  }

  /** The memory that the service's process has now. */
  residentBytes(): number {
    const [, kilobytes = '0'] =
      /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#service}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  }
}

/** What was used between two readings. */
export function since(before: CpuTime, after: CpuTime): CpuTime {
  return {
    eventLoopMs: after.eventLoopMs - before.eventLoopMs,
    otherThreadsMs: Math.max(0, after.otherThreadsMs - before.otherThreadsMs),
    postgresMs: Math.max(0, after.postgresMs - before.postgresMs),
  };
}

/** 0 for a process or thread that has ended. */
function runMsOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

function childrenOf(parent: number): number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
