import { join } from 'node:path';
import { check } from './checker.ts';
import type { Command } from './command.ts';
import { readFailpoints } from './failpoints.ts';
import { freePort } from './free-port.ts';
import type { History } from './history.ts';
import { Ledger } from './ledger.ts';
import { readOptions } from './options.ts';
import { Ownline } from './ownline.ts';
import { database, fromOutside, type KillPlan, Rounds } from './rounds.ts';
import { inRunFolder } from './run-folder.ts';
import { killSettings } from './settings.ts';
import { describeViolations, drawTable } from './table.ts';
import { unfoundFaults } from './unfound-faults.ts';
import { usualTeams, World } from './world.ts';

/** Without --outside and --database their numbers follow from --per-point. */
const defaults = { 'per-point': 50, point: [], outside: -1, database: -1, keep: false };

export const killsCommand: Command = {
  usage: `kills [--per-point 50] [--point NAME …] [--outside N] [--database N] [--keep]

Kills Ownline at each of its failpoints, --outside times at random moments and its database --database times, and
checks that nothing is lost. --point: only these failpoints. --keep: leaves history, log and data behind.`,
  run: (args, signal) => {
    const { 'per-point': perPoint, point, keep, ...given } = readOptions(args, defaults);
    const failpoints = point.length > 0 ? point : readFailpoints();
    const outside = given.outside < 0 ? perPoint : given.outside;
    const ofDatabase = given.database < 0 ? Math.ceil(perPoint / 5) : given.database;
    return runKills({ failpoints, perPoint, outside, database: ofDatabase }, keep, signal);
  },
};

/**
 * Kills the service at each failpoint and at random moments, and kills its database. Then the clients' record is
 * checked. Afterwards the checker has to find every seeded fault in the record.
 * @returns whether nothing was lost and every failpoint was reached
 */
async function runKills(plan: KillPlan, keep: boolean, signal: AbortSignal): Promise<boolean> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const { failpoints } = plan;
  const kept = { name: 'campaign', contents: 'log and data', keep };
  return inRunFolder(kept, async (folder, history) => {
    const ownline = new Ownline({
      dataDir: join(folder, 'data'),
      logFile: join(folder, 'service.log'),
      port: await freePort(),
      settings: killSettings,
    });
    const rounds = new Rounds(ownline, history);
    try {
      await ownline.start();
      const unfinished = await runWorld(history, ownline, rounds, plan, signal);
      const violations = check(history.rows);
      const missed = violations.length > 0 ? [] : unfoundFaults(history.rows);
      const wasKilled = (point: string) =>
        history.rows.some((row) => row.kind === 'process_killed' && row.point === point);
      const points = [...failpoints, ...[fromOutside, database].filter(wasKilled)];
      say(drawTable(new Ledger(history.rows), points, violations));
      if (violations.length > 0) say(`\n${describeViolations(violations)}`);
      for (const point of rounds.unreached) say(`\nThe failpoint "${point}" was never reached.`);
      for (const name of missed) say(`\nThe checker would not have found in this history: ${name}.`);
      if (unfinished) say(`\nIt did not become quiet: ${unfinished}.`);
      return !unfinished && violations.length === 0 && rounds.unreached.size === 0 && missed.length === 0;
    } finally {
      await ownline.stop();
    }
  });
}

async function runWorld(
  history: History,
  ownline: Ownline,
  rounds: Rounds,
  plan: KillPlan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const world = await World.open(history, ownline, await usualTeams(ownline), signal);
  let kills = 0;
  const startedMs = performance.now();
  try {
    world.begin();
    world.read();
    await rounds.run(plan, AbortSignal.any([signal, world.signal]), () => {
      kills += 1;
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      if (kills % 25 === 0) process.stderr.write(`${kills} kills in ${seconds} s\n`);
    });
    return await world.settle();
  } finally {
    await world.close();
  }
}
