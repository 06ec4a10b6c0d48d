import type { CallerKind } from './caller.ts';
import { type Cost, totalMs } from './cost.ts';
import { type Costs, mostExpensive } from './costs.ts';

export interface AttackCounts {
  readonly strangers: number;
  readonly member: number;
  readonly key: number;
  readonly phone: number;
}

/** A request without a response that used less CPU than this is a long poll. */
const lateMinMs = 50;

/**
 * Chooses the attacks: the most expensive requests of each caller, one per route. Half of the requests of strangers are
 * GET, which are cheaper but the easiest to send. Each caller's longest array is included.
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

/** Interleaves lists evenly, so that a team's rate limit is unused again at each of its attacks. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  return lists
    .flatMap((list) => list.map((item, index) => ({ item, place: (index + 0.5) / list.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
