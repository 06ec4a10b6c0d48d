import { align } from '../align.ts';
import type { Attacked } from './attacks.ts';
import { callerKinds } from './caller.ts';
import type { Cost } from './cost.ts';
import { mostExpensive, mostExpensiveOf } from './costs.ts';
import type { CpuPart } from './cpu-time.ts';

const cpuHeadings = ['loop ms', 'threads ms', 'PostgreSQL ms'];
const cpuParts: readonly CpuPart[] = ['eventLoop', 'otherThreads', 'postgres'];
const cpuCells = (cost: Cost | undefined) => cpuParts.map((part) => cost?.cpu[part].toFixed(2) ?? '');

const costHeadings = ['caller', 'route', 'request', 'status', ...cpuHeadings, 'answer KB'];

function costLine(cost: Cost): string[] {
  const { caller, route, shape } = cost.probe;
  const answerKb = (cost.answerBytes / 1_024).toFixed(1);
  return [caller.kind, route, shape, String(cost.status || 'none'), ...cpuCells(cost), answerKb];
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

const attackHeadings = [
  ...['attack', ...cpuHeadings, 'p50 ms', 'p99 ms', '5xx', 'refused'],
  ...['answers/s', 'memory MB', 'busy %', 'waited %', 'its own answers'],
];

/** The attacks as a table, the worst first. */
export function drawAttacks(attacks: readonly Attacked[]): string {
  return align([
    attackHeadings,
    ...attacks.toSorted((a, b) => b.victim.p99Ms - a.victim.p99Ms).map(attackLine),
  ]);
}

function attackLine(attack: Attacked): (string | number)[] {
  const { name, cost, victim, statuses, seconds, grownBytes, busy, waited } = attack;
  const own = [...statuses].toSorted(([a], [b]) => a - b);
  const answers = own.reduce((sum, [, count]) => sum + count, 0);
  return [
    ...[name, ...cpuCells(cost), Math.round(victim.p50Ms), Math.round(victim.p99Ms)],
    ...[victim.serverErrors, victim.refusals, Math.round(answers / seconds)],
    ...[Math.round(grownBytes / 1024 / 1024), Math.round(100 * busy), Math.round(100 * waited)],
    own.map(([status, count]) => `${count} × ${status || 'none'}`).join(', '),
  ];
}
