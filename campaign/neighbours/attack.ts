import { type CpuMeter, since } from './cpu-time.ts';
import { applyLoad, type LoadResult, newNetwork } from './load.ts';
import type { Probe } from './probe.ts';
import { runVictim, type VictimFigures } from './victim.ts';

/** The effect of a load on the service and on another team's sends. */
export interface Beside {
  readonly victim: VictimFigures;
  /** The largest growth of the service's memory during the load. */
  readonly grownBytes: number;
  /** Share of the time in which the event loop was busy. */
  readonly busy: number;
  /**
   * Share of the time in which the event loop had work but no core. If the share is high, latencies are due to the
   * machine.
   */
  readonly waited: number;
}

/** The results of an attack: one request on 64 connections. */
export interface Attack extends Beside {
  readonly probe: Probe;
  readonly load: LoadResult;
}

const attackConnections = 64;
/** How long the load runs before the first send of the victim is due. */
const leadMs = 500;
const sampleMs = 25;

export interface AttackPlan {
  readonly port: number;
  readonly meter: CpuMeter;
  readonly victimRequest: Buffer;
  readonly durationMs: number;
}

/**
 * Sends one request on 64 connections in closed loops, each from its own client network, while the victim sends.
 * @param probes the same request with several credentials, for limits that are counted by credential
 */
export async function runAttack(
  [probe, ...others]: readonly [Probe, ...Probe[]],
  plan: AttackPlan,
  signal: AbortSignal,
): Promise<Attack> {
  const requests = [probe, ...others].map((one) => one.request());
  const [first] = requests;
  if (!first) throw new Error('An attack needs at least one request.');
  return beside(plan, signal, (end) =>
    applyLoad({
      port: plan.port,
      connections: attackConnections,
      from: newNetwork,
      request: (index) => requests[index % requests.length] ?? first,
      signal: end,
    }),
  ).then(({ result, ...figures }) => ({ probe, load: result, ...figures }));
}

/** Runs a load while the victim sends, and ends it when the victim's last send is due. */
export async function beside<T>(
  { port, meter, victimRequest, durationMs }: AttackPlan,
  signal: AbortSignal,
  load: (end: AbortSignal) => Promise<T>,
): Promise<Beside & { readonly result: T }> {
  const before = meter.residentBytes();
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, meter.residentBytes());
  }, sampleMs);
  const ending = new AbortController();
  const cpuBefore = meter.read();
  const startedMs = performance.now();
  const running = load(AbortSignal.any([ending.signal, signal]));
  try {
    await new Promise((resolve) => setTimeout(resolve, leadMs));
    const victim = await runVictim({ port, request: victimRequest, durationMs }, signal, () =>
      ending.abort(),
    );
    const { eventLoopMs, waitedMs } = since(cpuBefore, meter.read());
    const passedMs = performance.now() - startedMs;
    const shares = { busy: eventLoopMs / passedMs, waited: waitedMs / passedMs };
    return { result: await running, victim, grownBytes: most - before, ...shares };
  } finally {
    ending.abort();
    clearInterval(sampler);
    await running.catch(() => undefined);
  }
}
