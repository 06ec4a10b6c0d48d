import { setTimeout as pause } from 'node:timers/promises';
import { alignColumns } from '../align.ts';
import { check } from '../checker.ts';
import type { Command } from '../command.ts';
import { type History, rowsOf } from '../history.ts';
import { readOptions } from '../options.ts';
import { inRunFolder } from '../run-folder.ts';
import { describeViolations } from '../table.ts';
import { unfoundFaults } from '../unfound-faults.ts';
import type { Violation } from '../violation.ts';
import { firstTeam, World } from '../world.ts';
import { requirePackages } from './files.ts';
import { Probe } from './probe.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { Site, until } from './site.ts';

export const failoverCommand: Command = {
  usage: `failover [--scenario NAME …] [--for 40] [--keep]

Runs three Ownlines on three PostgreSQLs under Patroni, with the files of deploy/ha on loopback, and harms them under
load: ${scenarios.map(({ name }) => name).join(', ')}. Each harm lasts --for seconds. Checks that nothing is lost,
sent twice or out of order, and how long no send is answered 202. --keep: leaves history, logs and data behind.`,
  run: (args, signal) => {
    const { scenario, for: seconds, keep } = readOptions(args, { scenario: [], for: 40, keep: false });
    const unknown = scenario.find((name) => !scenarios.some((known) => known.name === name));
    if (unknown !== undefined) throw new Error(`"${unknown}" is no scenario of this campaign.`);
    const chosen = scenarios.filter(({ name }) => scenario.length === 0 || scenario.includes(name));
    return runFailover({ scenarios: chosen, harmMs: seconds * 1_000, keep }, signal);
  },
};

interface Options {
  readonly scenarios: readonly Scenario[];
  readonly harmMs: number;
  readonly keep: boolean;
}

interface Result {
  readonly scenario: Scenario;
  readonly from: number;
  readonly to: number;
}

/** Time of undisturbed traffic before each scenario. */
const calmMs = 5_000;
/** A commit on the new primary is followed by a 202 within this time. */
const resumedWithinSeconds = 3;

async function runFailover(options: Options, signal: AbortSignal): Promise<boolean> {
  requirePackages();
  const kept = { name: 'failover', contents: 'logs and data', keep: options.keep };
  return inRunFolder(kept, async (folder, history) => {
    const site = await Site.create(folder);
    try {
      await site.start(signal);
      const { results, commits, unfinished } = await runWorld(history, site, options, signal);
      const violations = check(history.rows);
      const rows = results.map((result) => judge(result, history, commits, violations));
      const missed = violations.length > 0 ? [] : unfoundFaults(history.rows);
      const say = (text: string) => process.stdout.write(`${text}\n`);
      say(alignColumns(columns, rows));
      if (violations.length > 0) say(`\n${describeViolations(violations)}`);
      for (const name of missed) say(`\nThe checker would not have found in this history: ${name}.`);
      if (unfinished) say(`\nIt did not become quiet: ${unfinished}.`);
      return !unfinished && violations.length + missed.length === 0 && rows.every(({ holds }) => holds);
    } finally {
      await site.end();
    }
  });
}

async function runWorld(history: History, site: Site, options: Options, signal: AbortSignal) {
  const world = await World.open(history, site, [await firstTeam(site, [])], signal);
  const probe = new Probe(site.nodes.map(({ url }) => url));
  const results: Result[] = [];
  try {
    world.begin();
    world.read();
    const ending = AbortSignal.any([signal, world.signal]);
    for (const scenario of options.scenarios) {
      await pause(calmMs, undefined, { signal: ending });
      const from = Date.now();
      await runScenario(history, site, scenario, options.harmMs, ending);
      results.push({ scenario, from, to: Date.now() });
      process.stderr.write(`${scenario.name}: done\n`);
    }
    const unfinished = await world.settle().catch((error: unknown) => String(error));
    return { results, commits: probe.commits, unfinished };
  } finally {
    await probe.end();
    await world.close();
  }
}

/** Does the harm, mends it after a while, and waits until the cluster is whole. */
async function runScenario(
  history: History,
  site: Site,
  { name, harm }: Scenario,
  harmMs: number,
  signal: AbortSignal,
): Promise<void> {
  // A delivery whose result could not be written comes again, which the checker excuses near a kill.
  const mark = () => history.record({ kind: 'process_killed', point: name });
  mark();
  const marking = setInterval(mark, 1_000);
  try {
    const mend = await harm(site, signal);
    await pause(harmMs, undefined, { signal }).finally(mend);
    await until(`${name}: the cluster is not whole`, () => site.isWhole(), signal);
  } finally {
    clearInterval(marking);
  }
}

/** The longest time between neighbours within bounds, which count as neighbours, too. */
function longestGap(times: readonly number[], from: number, to: number) {
  const inside = [from, ...times.filter((at) => at > from && at < to), to];
  const gaps = inside.slice(1).map((end, index) => ({ start: inside[index] ?? end, end }));
  return gaps.reduce((longest, gap) => (gap.end - gap.start > longest.end - longest.start ? gap : longest));
}

function judge(
  { scenario, from, to }: Result,
  history: History,
  commits: readonly number[],
  violations: readonly Violation[],
) {
  const isDuring = ({ at }: { readonly at: number }) => at >= from && at < to;
  const answers = rowsOf(history.rows, 'send_accepted').map(({ at }) => at);
  const committed = longestGap(commits, from, to).end;
  const resumed = answers.find((at) => at >= committed) ?? to;
  const silence = longestGap(answers, from, to);
  const silent = (silence.end - silence.start) / 1_000;
  const afterCommit = (resumed - committed) / 1_000;
  const during = violations.filter(({ evidence: [first] }) => first && isDuring(first)).length;
  const holds = silent <= scenario.silentFor && afterCommit <= resumedWithinSeconds && during === 0;
  const accepted = answers.filter((at) => at >= from && at < to).length;
  return { ...scenario, silent, afterCommit, accepted, violations: during, holds };
}

const columns: Readonly<Record<string, (row: ReturnType<typeof judge>) => string | number>> = {
  goal: ({ goal }) => goal,
  harm: ({ name }) => name,
  'sends 202': ({ accepted }) => accepted,
  'no 202 for (s)': ({ silent }) => silent.toFixed(1),
  limit: ({ silentFor }) => silentFor.toFixed(1),
  'after a commit (s)': ({ afterCommit }) => afterCommit.toFixed(1),
  violations: ({ violations }) => violations,
  holds: ({ holds }) => (holds ? 'yes' : 'no'),
};
