import type { Ownline } from '../ownline.ts';
import { asks, type Caller, needsCredential } from './caller.ts';
import { type Cost, measureCost, measureIdle, totalMs } from './cost.ts';
import { meterOf } from './cpu-time.ts';
import { breachesOfCost } from './limits.ts';
import { type Probe, probeAs, probesOf, unroutedProbes } from './probe.ts';
import type { Route } from './route-table.ts';
import { warmUp } from './warm-up.ts';

interface CostsPlan {
  readonly ownline: Ownline;
  readonly routes: readonly Route[];
  readonly strangers: readonly Caller[];
  /** Returns the callers with currently valid credentials. */
  readonly members: () => readonly Caller[];
  /** Replaces a credential that a request ended. @returns whether there was one */
  readonly restore: () => Promise<boolean>;
  /** The number of requests in a batch of the first measurement. */
  readonly requests: number;
  /** Whether strangers without a credential request every route, not only those that need none. */
  readonly allStrangers: boolean;
  /** Chooses the costs that are measured again with more precision. */
  readonly choose: (measured: Costs) => readonly Cost[];
  readonly report: (text: string) => void;
}

export interface Costs {
  readonly costs: readonly Cost[];
  readonly endsCredential: ReadonlySet<string>;
}

/** Measures the expensive requests of each route and caller, and then the chosen ones again. */
export async function measureCosts(plan: CostsPlan, signal: AbortSignal): Promise<Costs> {
  const port = Number(new URL(plan.ownline.baseUrl).port);
  const meter = await meterOf(plan.ownline);
  for (const stranger of plan.strangers) await warmUp(plan.routes, stranger, port);
  const idle = await measureIdle(meter, 5, signal);
  const costs: Cost[] = [];
  const endsCredential = new Set<string>();
  const measureAll = async (probes: readonly Probe[]) => {
    for (const probe of probes) {
      signal.throwIfAborted();
      costs.push(await measureCost(probe, { port, meter, idle, requests: plan.requests, batches: 1 }));
    }
  };
  for (const stranger of plan.strangers) {
    await measureAll(unroutedProbes(stranger, port));
    for (const route of plan.routes) {
      if (plan.allStrangers || stranger.kind !== 'no credential' || !needsCredential(route))
        await measureAll(probesOf(route, stranger, port));
    }
    plan.report(`${stranger.kind}: ${costs.length} requests measured`);
  }
  for (const { kind } of plan.members()) {
    for (const route of plan.routes) {
      const caller = plan.members().find((member) => member.kind === kind);
      if (!caller || !asks(caller, route)) continue;
      await measureAll(probesOf(route, caller, port));
      if (kind === 'member' && (await plan.restore())) endsCredential.add(`${route.method} ${route.path}`);
    }
    plan.report(`${kind}: ${costs.length} requests measured`);
  }
  const callers = () => [...plan.strangers, ...plan.members()];
  const again = ({ probe }: Cost) =>
    measureCost(probeAs(probe, callers(), plan.routes, port) ?? probe, {
      ...{ port, meter, idle, requests: 40, batches: 5 },
    });
  const choose = (current: readonly Cost[]) => [
    ...plan.choose({ costs: current, endsCredential }),
    ...current.filter((cost) => breachesOfCost(cost).length > 0),
  ];
  return { costs: await confirm(costs, choose, again, signal), endsCredential };
}

const confirmedWithinMs = 120_000;

/**
 * Measures the chosen costs again, because a first figure may include garbage collection of the previous request. New
 * figures may change the choice. So measuring is repeated until all chosen costs are confirmed or time is up.
 * @returns all costs, confirmed ones with their second figures
 */
async function confirm(
  measured: readonly Cost[],
  choose: (costs: readonly Cost[]) => readonly Cost[],
  measure: (cost: Cost) => Promise<Cost>,
  signal: AbortSignal,
): Promise<Cost[]> {
  const confirmed = new Set<Cost>();
  const endMs = performance.now() + confirmedWithinMs;
  let costs = [...measured];
  for (;;) {
    const next = choose(costs).filter((cost) => !cost.isLate && !confirmed.has(cost));
    if (next.length === 0 || performance.now() > endMs) return costs;
    const better = new Map<Cost, Cost>();
    // Cheap requests go first, because the garbage of expensive ones would count for the next request.
    for (const cost of mostExpensive(next, next.length).toReversed()) {
      signal.throwIfAborted();
      if (performance.now() > endMs) break;
      const again = { ...(await measure(cost)), probe: cost.probe };
      better.set(cost, again);
      confirmed.add(again);
    }
    costs = costs.map((cost) => better.get(cost) ?? cost);
  }
}

/** The most expensive requests by total CPU. */
export function mostExpensive(costs: readonly Cost[], count: number): Cost[] {
  return costs.toSorted((a, b) => totalMs(b.cpu) - totalMs(a.cpu)).slice(0, count);
}
