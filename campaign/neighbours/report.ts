import { align, alignColumns } from '../align.ts';
import type { Attacked } from './attacks.ts';
import { callerKinds } from './caller.ts';
import type { Cost } from './cost.ts';
import { mostExpensive, mostExpensiveOf } from './costs.ts';

const costHeadings = [
  ...['caller', 'route', 'request', 'status'],
  ...['loop ms', 'threads ms', 'PostgreSQL ms', 'answer KB'],
];

function costLine({ probe, status, cpu, answerBytes }: Cost): string[] {
  const figures = [cpu.eventLoop, cpu.otherThreads, cpu.postgres].map((ms) => ms.toFixed(2));
  const request = [probe.caller.kind, probe.route, probe.shape, String(status || 'none')];
  return [...request, ...figures, (answerBytes / 1_024).toFixed(1)];
}

/** The most expensive requests of each caller as a table. */
export function drawCosts(costs: readonly Cost[]): string {
  return align([costHeadings, ...callerKinds.flatMap((kind) => mostExpensiveOf(costs, kind).map(costLine))]);
}

/** All requests as tab-separated values, the most expensive first. */
export function costsAsText(costs: readonly Cost[]): string {
  const lines = [costHeadings, ...mostExpensive(costs).map(costLine)];
  return `${lines.map((line) => line.join('\t')).join('\n')}\n`;
}

const answersOf = ({ statuses }: Attacked) => [...statuses.values()].reduce((sum, count) => sum + count, 0);

const attackColumns: Readonly<Record<string, (attack: Attacked) => string | number>> = {
  attack: ({ name }) => name,
  'loop ms': ({ cost }) => cost?.cpu.eventLoop.toFixed(2) ?? '',
  'threads ms': ({ cost }) => cost?.cpu.otherThreads.toFixed(2) ?? '',
  'PostgreSQL ms': ({ cost }) => cost?.cpu.postgres.toFixed(2) ?? '',
  'p50 ms': ({ victim }) => Math.round(victim.p50Ms),
  'p99 ms': ({ victim }) => Math.round(victim.p99Ms),
  '5xx': ({ victim }) => victim.serverErrors,
  refused: ({ victim }) => victim.refusals,
  'answers/s': (attack) => Math.round(answersOf(attack) / attack.seconds),
  'memory MB': ({ grownBytes }) => Math.round(grownBytes / 1024 / 1024),
  'busy %': ({ busy }) => Math.round(100 * busy),
  'waited %': ({ waited }) => Math.round(100 * waited),
  'its own answers': ({ statuses }) =>
    [...statuses].map(([status, count]) => `${count} × ${status || 'none'}`).join(', '),
};

/** The attacks as a table, the worst first. */
export function drawAttacks(attacks: readonly Attacked[]): string {
  return alignColumns(
    attackColumns,
    attacks.toSorted((a, b) => b.victim.p99Ms - a.victim.p99Ms),
  );
}
