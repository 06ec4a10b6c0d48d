import { setTimeout as pause } from 'node:timers/promises';
import { Connection, type Reply } from './connection.ts';
import { type CpuMeter, type CpuTime, since } from './cpu-time.ts';
import { newNetwork } from './load.ts';
import type { Probe } from './probe.ts';

export interface Cost {
  readonly probe: Probe;
  /** The HTTP status; 0 if the connection was closed without a response. */
  readonly status: number;
  readonly answerBytes: number;
  readonly cpu: CpuTime;
  /** True if no response came in time, because the request is a long poll or far too expensive. */
  readonly isLate: boolean;
}

interface CostPlan {
  readonly port: number;
  readonly meter: CpuMeter;
  /** CPU that the idle service uses per ms. */
  readonly idle: CpuTime;
  /** The number of requests in a batch. The median of several batches counts. */
  readonly requests: number;
  readonly batches: number;
}

/** A request that has no response after this time is a long poll, or too expensive to repeat. */
const answerWithinMs = 3_000;
/** No batch is added after this time, so that expensive requests are not repeated for precision. */
const enoughMs = 400;

/** Measures the CPU of a request by sequential repetition on one connection from its own client network. */
export async function measureCost(probe: Probe, plan: CostPlan): Promise<Cost> {
  const client = new Client(plan.port, probe.request());
  let reply: Reply | undefined;
  const batch = async (requests: number): Promise<CpuTime> => {
    const startedMs = performance.now();
    const before = plan.meter.read();
    let asked = 0;
    while (asked < requests && (asked === 0 || performance.now() - startedMs < enoughMs)) {
      reply = await client.ask();
      asked += 1;
    }
    // The pause lets the service finish the work that follows a response, such as logs and metrics.
    await pause(2);
    const used = since(before, plan.meter.read());
    return perRequest(used, plan.idle, performance.now() - startedMs, asked);
  };
  try {
    // The first batch warms up code and caches. If the request gets no response, this batch is the result.
    let cpu = await batch(2);
    if (!client.isLate) {
      const batches: CpuTime[] = [];
      const startedMs = performance.now();
      const isOver = () => client.isLate || (batches.length > 0 && performance.now() - startedMs > enoughMs);
      while (batches.length < plan.batches && !isOver()) batches.push(await batch(plan.requests));
      cpu = median(batches);
    }
    return {
      probe,
      status: reply?.status ?? 0,
      answerBytes: reply?.bytes ?? 0,
      cpu,
      isLate: client.isLate,
    };
  } finally {
    client.close();
    if (client.isLate) await untilIdle(plan.port);
  }
}

/** Waits until the service answers again. @throws if it does not answer in time */
export async function untilIdle(port: number, timeoutMs = 120_000): Promise<void> {
  const connection = await Connection.open({ port });
  const request = Buffer.from(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  try {
    await connection.ask(request, timeoutMs);
  } finally {
    connection.close();
  }
}

/** CPU time of the idle service per ms: the minimum of several seconds, because earlier work may still run. */
export async function measureIdle(meter: CpuMeter, seconds: number, signal: AbortSignal): Promise<CpuTime> {
  const rates: CpuTime[] = [];
  while (rates.length < seconds) {
    const before = meter.read();
    const startedMs = performance.now();
    await pause(1_000, undefined, { signal });
    const used = since(before, meter.read());
    const passedMs = performance.now() - startedMs;
    rates.push({
      eventLoopMs: used.eventLoopMs / passedMs,
      otherThreadsMs: used.otherThreadsMs / passedMs,
      postgresMs: used.postgresMs / passedMs,
    });
  }
  const least = (name: keyof CpuTime) => Math.min(...rates.map((rate) => rate[name]));
  return {
    eventLoopMs: least('eventLoopMs'),
    otherThreadsMs: least('otherThreadsMs'),
    postgresMs: least('postgresMs'),
  };
}

/** CPU time of all processes and threads together. */
export function totalMs({ eventLoopMs, otherThreadsMs, postgresMs }: CpuTime): number {
  return eventLoopMs + otherThreadsMs + postgresMs;
}

/** A client that opens a new connection from the same address when the old one has closed. */
class Client {
  readonly #port: number;
  readonly #request: Buffer;
  readonly #from = newNetwork();
  #connection: Connection | undefined;
  isLate = false;

  constructor(port: number, request: Buffer) {
    this.#port = port;
    this.#request = request;
  }

  /** Sends a request. @returns undefined if the connection ended without a response */
  async ask(): Promise<Reply | undefined> {
    const startedMs = performance.now();
    try {
      if (!this.#connection?.isUsable)
        this.#connection = await Connection.open({ port: this.#port, from: this.#from });
      return await this.#connection.ask(this.#request, answerWithinMs);
    } catch {
      this.isLate ||= performance.now() - startedMs >= answerWithinMs;
      return undefined;
    }
  }

  close(): void {
    this.#connection?.close();
  }
}

function perRequest(used: CpuTime, idle: CpuTime, passedMs: number, requests: number): CpuTime {
  const part = (name: keyof CpuTime) => Math.max(0, used[name] - idle[name] * passedMs) / requests;
  return {
    eventLoopMs: part('eventLoopMs'),
    otherThreadsMs: part('otherThreadsMs'),
    postgresMs: part('postgresMs'),
  };
}

/** The median batch by CPU of the event loop. */
function median(batches: readonly CpuTime[]): CpuTime {
  const sorted = batches.toSorted((a, b) => a.eventLoopMs - b.eventLoopMs);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? { eventLoopMs: 0, otherThreadsMs: 0, postgresMs: 0 };
}
