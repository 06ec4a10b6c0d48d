import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, askOnce, newNetwork, openClient } from '../http.ts';
import { type CpuTime, cpuTimeOf, type Meter } from './cpu-time.ts';
import { type Figure, megabyte } from './figure.ts';
import { describeProbe, type Probe } from './probe.ts';

/** The cost of one request. */
export interface Cost {
  readonly probe: Probe;
  /** The HTTP status; 0 if the connection was closed without a response. */
  readonly status: number;
  readonly answerBytes: number;
  readonly cpu: CpuTime;
  /** True if no response came in time, because the request is a long poll or far too expensive. */
  readonly isLate: boolean;
}

/** A request that has no response after this time is a long poll, or too expensive to repeat. */
const answerWithinMs = 3_000;
/** No batch is added after this time, so that expensive requests are not repeated for precision. */
const enoughMs = 400;

interface Batches {
  /** The number of requests in a batch. The median of several batches counts. */
  readonly requests: number;
  readonly batches: number;
}

/** Measures the CPU of requests by sequential repetition on one connection from its own client network. */
export class CostMeter {
  readonly #port: number;
  readonly #meter: Meter;
  /** CPU that the idle service uses per ms. */
  #idle: CpuTime = cpuTimeOf(() => 0);

  constructor(port: number, meter: Meter) {
    this.#port = port;
    this.#meter = meter;
  }

  /** Measures the idle service: the minimum of several seconds, because earlier work may still run. */
  async measureIdle(seconds: number, signal: AbortSignal): Promise<void> {
    const rates: CpuTime[] = [];
    while (rates.length < seconds) {
      const read = this.#meter.start();
      await pause(1_000, undefined, { signal });
      const { cpu, passedMs } = read();
      rates.push(cpuTimeOf((part) => cpu[part] / passedMs));
    }
    this.#idle = cpuTimeOf((part) => Math.min(...rates.map((rate) => rate[part])));
  }

  async measure(probe: Probe, { requests, batches }: Batches): Promise<Cost> {
    const client = openClient(this.#port, newNetwork());
    const request = probe.request();
    let [status, answerBytes, isLate] = [0, 0, false];
    const batch = async (count: number): Promise<CpuTime> => {
      const read = this.#meter.start();
      const endMs = performance.now() + enoughMs;
      let asked = 0;
      while (asked < count && (asked === 0 || performance.now() < endMs)) {
        const reply = await ask(client, request, answerWithinMs);
        [status, answerBytes] = [reply.status, reply.body.length];
        isLate ||= reply.isLate;
        asked += 1;
      }
      // The pause lets the service finish the work that follows a response, such as logs and metrics.
      await pause(2);
      const { cpu, passedMs } = read();
      return cpuTimeOf((part) => Math.max(0, cpu[part] - this.#idle[part] * passedMs) / asked);
    };
    // The first batch warms up code and caches. If the request gets no response, this batch is the result.
    let measured = [await batch(2)];
    const endMs = performance.now() + enoughMs;
    if (!isLate) measured = [await batch(requests)];
    while (!isLate && measured.length < batches && performance.now() < endMs)
      measured.push(await batch(requests));
    await client.destroy();
    if (isLate) await untilIdle(this.#port);
    const sorted = measured.toSorted((a, b) => a.eventLoop - b.eventLoop);
    const cpu = sorted[Math.floor((sorted.length - 1) / 2)] ?? this.#idle;
    return { probe, status, answerBytes, cpu, isLate };
  }
}

/** Waits until the service answers again. @throws if it does not answer in time */
export async function untilIdle(port: number, withinMs = 120_000): Promise<void> {
  const { status } = await askOnce(port, { method: 'GET', path: '/healthz', headers: {} }, withinMs);
  if (status === 0) throw new Error(`The service did not answer within ${withinMs} ms.`);
}

/** Goal R1: event loop time of one request of a stranger. Password hashing runs in other threads. */
export function figuresOfCost({ probe, cpu }: Cost): Figure[] {
  if (!probe.caller.isStranger) return [];
  const load = describeProbe(probe);
  return [{ goal: 'R1', load, name: 'time of the event loop', value: cpu.eventLoop, limit: 1, unit: 'ms' }];
}

const heldConnections = 16;
/** The time in which all bodies arrive, except for their last byte. */
const arriveMs = 100;

/** Goal R1: memory of a stranger's longest body whose last byte does not come, on 16 connections. */
export async function measureHeldBody(probe: Probe, port: number, meter: Meter): Promise<Figure> {
  const { body = Buffer.alloc(0), headers, ...rest } = probe.request();
  let passedOn = 0;
  const held = async function* () {
    yield body.subarray(0, -1);
    passedOn += 1;
    await pause(20 * arriveMs);
  };
  const length = { 'content-length': String(body.length) };
  const before = meter.residentBytes();
  const clients = Array.from({ length: heldConnections }, () => openClient(port, newNetwork()));
  for (const client of clients)
    void ask(client, { ...rest, headers: { ...headers, ...length }, body: Readable.from(held()) });
  const endMs = performance.now() + 10 * arriveMs;
  while (passedOn < heldConnections && performance.now() < endMs) await pause(10);
  await pause(arriveMs);
  const grown = Math.max(0, meter.residentBytes() - before);
  await Promise.all(clients.map((client) => client.destroy()));
  return {
    ...{ goal: 'R1', load: describeProbe(probe), name: 'memory of a body on its way', limit: 1, unit: 'MB' },
    value: grown / heldConnections / megabyte,
  };
}
