import { ask, openClient } from '../http.ts';
import type { Ownline } from '../ownline.ts';
import { asks, type Caller, type CallerKind, callerKinds, needsCredential } from './caller.ts';
import { type Cost, CostMeter, figuresOfCost, measureHeldBody } from './cost.ts';
import { Meter, totalMs } from './cpu-time.ts';
import { type Figure, isBroken } from './figure.ts';
import { type Probe, probeAs, probesOf, unroutedProbes } from './probe.ts';
import { nameOf, type Route } from './route-table.ts';
import type { CampaignSize } from './size.ts';
import type { Tenant } from './tenant.ts';

interface CostsPlan {
  readonly ownline: Ownline;
  readonly routes: readonly Route[];
  readonly strangers: readonly Caller[];
  /** The team whose member, key and phone send the other requests. */
  readonly tenant: Tenant;
  readonly size: CampaignSize;
  readonly report: (text: string) => void;
}

export interface Costs {
  readonly costs: readonly Cost[];
  /** Names of routes that end the session of their caller. */
  readonly endsSession: ReadonlySet<string>;
}

/** Measures the memory of bodies on their way, while the service has little free memory that it could reuse. */
export async function measureHeldBodies(
  { ownline, routes, strangers }: CostsPlan,
  signal: AbortSignal,
): Promise<Figure[]> {
  const meter = await Meter.of(ownline);
  const held: Figure[] = [];
  for (const probe of strangers.flatMap((stranger) => routes.flatMap((route) => probesOf(route, stranger)))) {
    if (!/^longest (text|fields)$/.test(probe.shape)) continue;
    signal.throwIfAborted();
    held.push(await measureHeldBody(probe, ownline.port, meter));
  }
  return held;
}

/** Requests every page once, because the service prepares static answers at their first request. */
export async function warmUp(
  port: number,
  routes: readonly Route[],
  strangers: readonly Caller[],
): Promise<void> {
  const pages = routes.filter(({ method, audience }) => method === 'GET' && audience === 'page');
  const client = openClient(port);
  for (const stranger of strangers)
    for (const [plain] of pages.map((page) => probesOf(page, stranger)))
      if (plain) await ask(client, plain.request());
  await client.destroy();
}

/** Measures the expensive requests of each route and caller, and then the chosen ones again. */
export async function measureCosts(plan: CostsPlan, signal: AbortSignal): Promise<Costs> {
  const { ownline, routes, strangers, tenant, size } = plan;
  await warmUp(ownline.port, routes, strangers);
  const meter = new CostMeter(ownline.port, await Meter.of(ownline));
  await meter.measureIdle(5, signal);
  const costs: Cost[] = [];
  const endsSession = new Set<string>();
  const measureAll = async (probes: readonly Probe[]) => {
    for (const probe of probes) {
      signal.throwIfAborted();
      costs.push(await meter.measure(probe, { requests: size.requests, batches: 1 }));
    }
  };
  const callers = () => [...strangers, ...tenant.callers()];
  for (const kind of callerKinds) {
    for (const stranger of strangers) if (stranger.kind === kind) await measureAll(unroutedProbes(stranger));
    for (const route of routes) {
      const caller = callers().find((one) => one.kind === kind);
      if (!caller || !asks(caller, route)) continue;
      if (kind === 'no credential' && needsCredential(route) && !size.allStrangers) continue;
      await measureAll(probesOf(route, caller));
      if (kind === 'member' && (await tenant.restoreSessions())) endsSession.add(nameOf(route));
    }
    plan.report(`${kind}: ${costs.length} requests measured`);
  }
  const again = ({ probe }: Cost) =>
    meter.measure(probeAs(probe, callers(), routes) ?? probe, { requests: 40, batches: 5 });
  const choose = (current: readonly Cost[]) => [
    ...chooseAttacks({ costs: current, endsSession }, size.attacks),
    ...callerKinds.flatMap((kind) => mostExpensiveOf(current, kind)),
    ...current.filter((cost) => figuresOfCost(cost).some(isBroken)),
  ];
  return { costs: await confirm(costs, choose, again, signal), endsSession };
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
  const costs = [...measured];
  for (;;) {
    const next = new Set(choose(costs).filter((cost) => !cost.isLate && !confirmed.has(cost)));
    if (next.size === 0 || performance.now() > endMs) return costs;
    // Cheap requests go first, because the garbage of expensive ones would count for the next request.
    for (const cost of mostExpensive([...next]).toReversed()) {
      signal.throwIfAborted();
      if (performance.now() > endMs) break;
      const again = { ...(await measure(cost)), probe: cost.probe };
      costs[costs.indexOf(cost)] = again;
      confirmed.add(again);
    }
  }
}

/** The most expensive requests by total CPU. */
export function mostExpensive(costs: readonly Cost[]): Cost[] {
  return costs.toSorted((a, b) => totalMs(b.cpu) - totalMs(a.cpu));
}

/** The requests of a caller that are listed. */
export function mostExpensiveOf(costs: readonly Cost[], kind: CallerKind): Cost[] {
  return mostExpensive(costs.filter(({ probe }) => probe.caller.kind === kind)).slice(0, 8);
}

/** A request without a response that used less CPU than this is a long poll. */
const lateMinMs = 50;

/**
 * Chooses the attacks: the most expensive requests of each caller, one per route. Half of the requests of strangers are
 * GET, which are cheaper but the easiest to send. The longest array of a key and of a member is included.
 */
export function chooseAttacks({ costs, endsSession }: Costs, counts: CampaignSize['attacks']): Cost[] {
  const possible = mostExpensive(costs).filter(
    ({ probe, isLate, cpu }) =>
      (!isLate || totalMs(cpu) >= lateMinMs) && (probe.caller.isStranger || !endsSession.has(probe.route)),
  );
  const isGet = ({ probe }: Cost) => probe.route.startsWith('GET ');
  const strangers = possible.filter(({ probe }) => probe.caller.isStranger);
  const of = (kind: CallerKind) => possible.filter(({ probe }) => probe.caller.kind === kind);
  const half = Math.ceil(counts.strangers / 2);
  const arrayFirst = (all: readonly Cost[], count: number) => {
    const array = all.filter(({ probe }) => probe.shape.startsWith('longest array')).slice(0, 1);
    return [...new Set([...array, ...onePerRoute(all)])].slice(0, count);
  };
  const chosen = [
    [
      ...onePerRoute(strangers.filter(isGet)).slice(0, half),
      ...onePerRoute(strangers.filter((cost) => !isGet(cost))).slice(0, half),
    ],
    arrayFirst(of('key'), counts.key),
    arrayFirst(of('member'), counts.member),
    onePerRoute(of('phone')).slice(0, counts.phone),
  ];
  // The lists are interleaved evenly, so that a team's rate limit is unused again at each of its attacks.
  return chosen
    .flatMap((list) => list.map((cost, index) => ({ cost, place: (index + 0.5) / list.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ cost }) => cost);
}

/** The first cost of each route. */
function onePerRoute(costs: readonly Cost[]): Cost[] {
  return [...Map.groupBy(costs, ({ probe }) => probe.route).values()].flatMap((same) => same.slice(0, 1));
}
