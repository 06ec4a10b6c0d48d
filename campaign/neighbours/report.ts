import { align } from '../align.ts';
import type { Attack } from './attack.ts';
import { type CallerKind, callerKinds } from './caller.ts';
import type { Cost } from './cost.ts';
import { mostExpensive } from './costs.ts';
import type { HeldBody } from './held-bodies.ts';
import type { LimitedResults } from './limited.ts';
import * as limits from './limits.ts';
import type { TeamLoad } from './team-at-its-limit.ts';

export interface Results extends LimitedResults {
  readonly costs: readonly Cost[];
  readonly heldBodies: readonly HeldBody[];
}

export function breachesOf(results: Results): limits.Breach[] {
  return [
    ...results.costs.flatMap(limits.breachesOfCost),
    ...results.heldBodies.flatMap(limits.breachesOfBody),
    ...(results.sharedAddress ? limits.breachesOfSharedAddress(results.sharedAddress) : []),
    ...results.attacks.flatMap(limits.breachesOfAttack),
    ...(results.slowReaders ? limits.breachesOfSlowReaders(results.slowReaders) : []),
    ...(results.heldPoll ? limits.breachesOfHeldPoll(results.heldPoll) : []),
    ...results.teamLoads.flatMap(limits.breachesOfTeamLoad),
    ...(results.refusals ? limits.breachesOfRefusals(results.refusals) : []),
  ].toSorted((a, b) => a.goal.localeCompare(b.goal));
}

/** The number of requests that are listed for each caller. */
const shown = 8;

export function mostExpensiveOf(costs: readonly Cost[], kind: CallerKind): Cost[] {
  return mostExpensive(
    costs.filter(({ probe }) => probe.caller.kind === kind),
    shown,
  );
}

/** Formats the tables, worst results first. */
export function describe(results: Results): string {
  const { alone, slowReaders, refusals, sharedAddress } = results;
  const attacks = results.attacks.toSorted((a, b) => b.victim.p99Ms - a.victim.p99Ms);
  const costs = new Map(results.costs.map((cost) => [limits.name(cost.probe), cost]));
  const line = (attack: Attack) => attackLine(attack, costs.get(limits.name(attack.probe)));
  const sections = [
    `CPU of one request and what 64 connections of it leave to another team's 30 sends a second (alone: p50 ${limits.ms(alone.p50Ms)}, p99 ${limits.ms(alone.p99Ms)})`,
    align([attackHeadings, ...attacks.map(line)]),
    `\nThe most expensive requests of each caller`,
    align([
      costHeadings,
      ...callerKinds.flatMap((kind) => mostExpensiveOf(results.costs, kind).map(costLine)),
    ]),
  ];
  const worstBody = results.heldBodies.toSorted((a, b) => b.bytesEach - a.bytesEach)[0];
  if (worstBody)
    sections.push(
      `\nMemory of a body on its way, at most: ${limits.megabytes(worstBody.bytesEach)} (${worstBody.caller.kind}, ${worstBody.route})`,
    );
  if (sharedAddress)
    sections.push(
      `A good key after ${sharedAddress.wrongKeys} wrong ones from its address: ${sharedAddress.status}`,
    );
  if (results.teamLoads.length > 0)
    sections.push('\nOne team at its own limit', align([loadHeadings, ...results.teamLoads.map(loadLine)]));
  if (slowReaders) {
    const { path, sockets, openSeconds, left, grownBytes } = slowReaders;
    sections.push(
      `\n${sockets} sockets that do not read GET ${path}: open for ${openSeconds.toFixed(0)} s at most, ${left} left, memory + ${limits.megabytes(grownBytes)}`,
    );
  }
  if (refusals) {
    const tables = refusals.tables.map(([table, rows]) => `${table} ${rows}`).join(', ') || 'none';
    sections.push(
      `${refusals.refused} refusals: ${refusals.rows} rows (${tables}), ${limits.megabytes(refusals.databaseBytes)} of the database's log, ${limits.megabytes(refusals.logBytes)} of log`,
    );
  }
  return sections.join('\n');
}

export function costsAsText(costs: readonly Cost[]): string {
  const lines = mostExpensive(costs, costs.length).map((cost) => costLine(cost).join('\t'));
  return `${[costHeadings.join('\t'), ...lines].join('\n')}\n`;
}

const costHeadings = [
  'caller',
  'route',
  'request',
  'status',
  'loop ms',
  'threads ms',
  'PostgreSQL ms',
  'answer KB',
];

function costLine({ probe, status, cpu, answerBytes }: Cost): string[] {
  return [
    ...[probe.caller.kind, probe.route, probe.shape, status === 0 ? 'none' : String(status)],
    ...[cpu.eventLoopMs, cpu.otherThreadsMs, cpu.postgresMs].map((value) => value.toFixed(2)),
    (answerBytes / 1_024).toFixed(1),
  ];
}

const attackHeadings = [
  ...['caller', 'route', 'request', 'status', 'loop ms', 'threads ms', 'PostgreSQL ms'],
  ...['p50 ms', 'p99 ms', '5xx', 'refused', 'answers/s', 'memory MB', 'busy %', 'waited %'],
];

function attackLine(
  { probe, victim, load, grownBytes, busy, waited }: Attack,
  cost: Cost | undefined,
): (string | number)[] {
  const answers = [...load.statuses.values()].reduce((sum, count) => sum + count, 0);
  const [status = 0] = [...load.statuses].toSorted(([, a], [, b]) => b - a).map(([most]) => most);
  return [
    ...[probe.caller.kind, probe.route, probe.shape, status],
    ...(cost ? [cost.cpu.eventLoopMs, cost.cpu.otherThreadsMs, cost.cpu.postgresMs] : [0, 0, 0]).map(
      (value) => Number(value.toFixed(2)),
    ),
    ...[Math.round(victim.p50Ms), Math.round(victim.p99Ms), victim.serverErrors, victim.refusals],
    ...[Math.round(answers / load.seconds), Math.round(grownBytes / 1024 / 1024)],
    ...[Math.round(100 * busy), Math.round(100 * waited)],
  ];
}

const loadHeadings = [
  ...['load', 'p50 ms', 'p99 ms', '5xx', 'refused', 'busy %', 'waited %', 'its own answers'],
];

function loadLine({ name, victim, statuses, busy, waited }: TeamLoad): (string | number)[] {
  const own = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status || 'none'}`);
  return [
    ...[name, Math.round(victim.p50Ms), Math.round(victim.p99Ms), victim.serverErrors, victim.refusals],
    ...[Math.round(100 * busy), Math.round(100 * waited), own.join(', ')],
  ];
}
