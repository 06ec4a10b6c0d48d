import type { CallerKind } from './caller.ts';
import { type Cost, totalMs } from './cost.ts';
import { type Costs, mostExpensive } from './costs.ts';

export interface AttackCounts {
  readonly strangers: number;
  readonly member: number;
  readonly key: number;
  readonly phone: number;
}

/** A request that got no answer and cost less is a long poll. */
const lateMinMs = 50;

/**
 * The requests that are sent on 64 connections: of each caller the most expensive ones, one per route. Half of a stranger's are
 * GET, which cost less and are the easiest to send. The longest array of each caller is among them.
 */
export function chooseAttacks({ costs, endsCredential }: Costs, counts: AttackCounts): Cost[] {
  const possible = costs.filter(
    ({ probe, isLate, cpu }) =>
      (!isLate || totalMs(cpu) >= lateMinMs) && (probe.caller.isStranger || !endsCredential.has(probe.route)),
  );
  const isGet = ({ probe }: Cost) => probe.route.startsWith('GET ');
  const strangers = possible.filter(({ probe }) => probe.caller.isStranger);
  const of = (kind: CallerKind) => possible.filter(({ probe }) => probe.caller.kind === kind);
  const half = Math.ceil(counts.strangers / 2);
  const lists = [
    [
      ...worstRoutes(strangers.filter(isGet), half),
      ...worstRoutes(
        strangers.filter((cost) => !isGet(cost)),
        half,
      ),
    ],
    withArray(of('key'), counts.key),
    withArray(of('member'), counts.member),
    worstRoutes(of('phone'), counts.phone),
  ];
  return interleave(lists);
}

function worstRoutes(costs: readonly Cost[], count: number): Cost[] {
  const seen = new Set<string>();
  const worst = mostExpensive(costs, costs.length).filter(({ probe }) => {
    if (seen.has(probe.route)) return false;
    seen.add(probe.route);
    return true;
  });
  return worst.slice(0, count);
}

function withArray(costs: readonly Cost[], count: number): Cost[] {
  const array = mostExpensive(
    costs.filter(({ probe }) => probe.shape.startsWith('longest array')),
    1,
  );
  return [...new Set([...array, ...worstRoutes(costs, count)])].slice(0, count);
}

/** One of each list after the other, spread evenly: a team's limit per minute is fresh for each of its attacks. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  return lists
    .flatMap((list) => list.map((item, index) => ({ item, place: (index + 0.5) / list.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
