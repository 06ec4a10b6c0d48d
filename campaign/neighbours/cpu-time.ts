import { readdirSync, readFileSync } from 'node:fs';
import type { Ownline } from '../ownline.ts';

/** CPU time in ms; Linux counts it in nanoseconds for each thread, so that it is exact where other work runs beside it. */
export interface CpuTime {
  /** CPU time of the service's first thread, which runs its event loop. */
  readonly eventLoopMs: number;
  /** CPU time of the service's other threads: password hashing, name look-ups, garbage collection. */
  readonly otherThreadsMs: number;
  /** CPU time of all processes of its PostgreSQL. */
  readonly postgresMs: number;
}

/** The same, and how long the event loop's thread could have run but had no core, because of other work on the machine. */
export interface CpuReading extends CpuTime {
  readonly waitedMs: number;
}

/** Reads the CPU time of a running service. */
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

  read(): CpuReading {
    const [eventLoopMs, waitedMs] = timesOf(`/proc/${this.#service}/task/${this.#service}/schedstat`);
    const threads = readdirSync(`/proc/${this.#service}/task`).map((thread) =>
      runMsOf(`/proc/${this.#service}/task/${thread}/schedstat`),
    );
    const postmaster = this.#postmaster;
    const backends = postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)];
    return {
      eventLoopMs,
      waitedMs,
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

/** The CPU time between two readings. */
export function since(before: CpuReading, after: CpuReading): CpuReading {
  return {
    waitedMs: after.waitedMs - before.waitedMs,
    eventLoopMs: after.eventLoopMs - before.eventLoopMs,
    otherThreadsMs: Math.max(0, after.otherThreadsMs - before.otherThreadsMs),
    postgresMs: Math.max(0, after.postgresMs - before.postgresMs),
  };
}

/** How long a thread ran, and how long it waited for a core; 0 for one that has ended. */
function timesOf(path: string): [number, number] {
  try {
    const [ran, waited] = readFileSync(path, 'utf8').split(' ');
    return [Number(ran) / 1e6, Number(waited) / 1e6];
  } catch {
    return [0, 0];
  }
}

function runMsOf(path: string): number {
  return timesOf(path)[0];
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
