import { setTimeout as pause } from 'node:timers/promises';
import { check } from '../checker.ts';
import type { Command } from '../command.ts';
import { cutAtSnapshots, type Restore } from '../cut.ts';
import { eventTypes, type History } from '../history.ts';
import { readOptions } from '../options.ts';
import { inRunFolder } from '../run-folder.ts';
import { createTeam, signIn } from '../set-up.ts';
import { describeViolations } from '../table.ts';
import { type TeamPlan, usualContacts, usualPace } from '../team.ts';
import { unfoundFaults } from '../unfound-faults.ts';
import { firstTeam, World } from '../world.ts';
import { followDashboard } from './dashboard.ts';
import { requirePackages } from './files.ts';
import { drawTable, judge, type Result } from './judge.ts';
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

/** Time of undisturbed traffic before each scenario. */
const calmMs = 5_000;
/** How often a scenario runs again if a standby was promoted without it. */
const repeatsMax = 2;
/** Numbers of further teams, whose requests haproxy spreads over the processes. */
const furtherNumbers = ['+14155550103', '+14155550104', '+14155550105'];
/** Phones wait as the Outbox does. */
const pace = { ...usualPace, phonePauseMs: 15_000 };

async function runFailover(options: Options, signal: AbortSignal): Promise<boolean> {
  requirePackages();
  const kept = { name: 'failover', contents: 'logs and data', keep: options.keep };
  return inRunFolder(kept, async (folder, history) => {
    const site = await Site.create(folder);
    try {
      await site.start(signal);
      const { results, losses, commits, unfinished } = await runWorld(history, site, options, signal);
      const owed = cutAtSnapshots(history.rows, losses);
      const violations = check(owed);
      const verdicts = results.map((result) => judge(result, history, commits, violations));
      const faults = [
        ...verdicts.flatMap(({ scenario, faults: own }) => own.map((fault) => `${scenario.name}: ${fault}`)),
        ...(unfinished ? [`It did not become quiet: ${unfinished}.`] : []),
        ...(violations.length > 0 ? [describeViolations(violations)] : unfoundFaults(owed)),
      ];
      process.stdout.write(`${[drawTable(verdicts), '', ...faults].join('\n')}\n`);
      return faults.length === 0;
    } finally {
      await site.end();
    }
  });
}

async function runWorld(history: History, site: Site, options: Options, signal: AbortSignal) {
  const teams = await createTeams(site);
  const world = await World.open(history, site, [await firstTeam(site, []), ...teams], signal, pace);
  const ending = AbortSignal.any([signal, world.signal]);
  const probe = new Probe(site.nodes.map(({ url }) => url));
  const watching = new AbortController();
  const watchers = [
    ...teams.map(({ team, cookie }) =>
      followDashboard({ history, baseUrl: site.baseUrl, team, cookie }, watching.signal),
    ),
    ...site.processes.map(({ baseUrl }) => askReadiness(history, baseUrl, watching.signal)),
  ];
  const [results, losses]: [Result[], Restore[]] = [[], []];
  try {
    world.begin();
    world.read();
    for (const scenario of options.scenarios) {
      for (let repeats = 0; ; repeats += 1) {
        await pause(calmMs, undefined, { signal: ending });
        const promoted = await site.promotions();
        const from = Date.now();
        const { loss, problem } = await runScenario(history, site, scenario, options.harmMs, ending);
        if (loss) losses.push(loss);
        const isSpoilt = (await site.promotions()) - promoted !== scenario.promotions;
        process.stderr.write(
          `${scenario.name}: ${isSpoilt ? 'a standby was promoted without it' : 'done'}\n`,
        );
        if (isSpoilt && repeats < repeatsMax) continue;
        results.push({ scenario, from, to: Date.now(), problem, loss, repeats });
        break;
      }
    }
    const unfinished = await world.settle().catch((error: unknown) => String(error));
    return { results, losses, commits: probe.commits, unfinished };
  } finally {
    watching.abort();
    await probe.end();
    await world.close();
    await Promise.all(watchers);
  }
}

/** Creates teams besides the first one, each with a member whose browser shows its dashboard. */
function createTeams(site: Site): Promise<(TeamPlan & { readonly team: string; readonly cookie: string })[]> {
  return Promise.all(
    furtherNumbers.map(async (number) => {
      const { team, apiKey } = await createTeam(site, `Team of ${number}`);
      const webhooks = [{ path: number.slice(1), mood: 'fine' as const, events: eventTypes, number: null }];
      const cookie = await signIn(site, team);
      return { team, cookie, apiKey, numbers: [number], contacts: usualContacts.slice(1), webhooks };
    }),
  );
}

/** Asks a process every second whether it is ready, until the signal aborts. */
async function askReadiness(history: History, baseUrl: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const askedAt = Date.now();
    // A process that is stopped refuses the connection at once.
    await fetch(`${baseUrl}/readyz`, { signal })
      .then((answer) => answer.text())
      .catch(() => undefined);
    history.record({ kind: 'readiness_answered', ms: Date.now() - askedAt });
    await pause(1_000, undefined, { signal }).catch(() => undefined);
  }
}

/** Does the harm, mends it after a while, and waits until the cluster is whole. */
async function runScenario(
  history: History,
  site: Site,
  { name, harm, look }: Scenario,
  harmMs: number,
  signal: AbortSignal,
) {
  // A delivery whose result could not be written comes again, which the checker excuses near a kill.
  const mark = () => history.record({ kind: 'process_killed', point: name });
  mark();
  const marking = setInterval(mark, 1_000);
  try {
    const mend = await harm(site, signal);
    const problem = await look?.(site, signal).then(
      () => undefined,
      (error: Error) => error.message,
    );
    await pause(harmMs, undefined, { signal });
    const loss = await mend();
    await until(`${name}: the cluster is not whole`, () => site.isWhole(), signal);
    return { loss, problem };
  } finally {
    clearInterval(marking);
  }
}
