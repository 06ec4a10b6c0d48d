import { readdirSync, readFileSync } from 'node:fs';
import type { Ownline } from '../ownline.ts';

/** CPU time in ms. Linux counts it in nanoseconds per thread, so other work on the machine does not distort it. */
export interface CpuTime {
  /** CPU time of the service's first thread, which runs its event loop. */
  readonly eventLoopMs: number;
  /** CPU time of the service's other threads: password hashing, name look-ups, garbage collection. */
  readonly otherThreadsMs: number;
  /** CPU time of all processes of the service's PostgreSQL. */
  readonly postgresMs: number;
}

/** CPU times since the start, and how long the event loop had work but no core. */
export interface CpuReading extends CpuTime {
  readonly waitedMs: number;
}

export async function meterOf(ownline: Ownline): Promise<CpuMeter> {
  return new CpuMeter(ownline.pid, await ownline.postmasterPid());
}

export class CpuMeter {
  readonly #service: number;
  readonly #postmaster: number;

  /** @param postmaster process id of PostgreSQL's first process */
  constructor(service: number, postmaster: number) {
    this.#service = service;
    this.#postmaster = postmaster;
  }

  read(): CpuReading {
    const [eventLoopMs, waitedMs] = timesOf(`/proc/${this.#service}/task/${this.#service}/schedstat`);
    const threads = readdirSync(`/proc/${this.#service}/task`).map((thread) =>
      runMsOf(`/proc/${this.#service}/task/${thread}/schedstat`),
    );
    const backends = [this.#postmaster, ...childrenOf(this.#postmaster)];
    return {
      eventLoopMs,
      waitedMs,
      otherThreadsMs: Math.max(0, sum(threads) - eventLoopMs),
      postgresMs: sum(backends.map((pid) => runMsOf(`/proc/${pid}/schedstat`))),
    };
  }

  residentBytes(): number {
    const [, kilobytes = '0'] =
      /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#service}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  }
}

export function since(before: CpuReading, after: CpuReading): CpuReading {
  return {
    waitedMs: after.waitedMs - before.waitedMs,
    eventLoopMs: after.eventLoopMs - before.eventLoopMs,
    otherThreadsMs: Math.max(0, after.otherThreadsMs - before.otherThreadsMs),
    postgresMs: Math.max(0, after.postgresMs - before.postgresMs),
  };
}

/** Returns how long a thread ran and how long it waited for a core, in ms; 0 for a thread that has ended. */
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
