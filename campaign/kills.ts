import { join } from 'node:path';
import { check } from './checker.ts';
import { readFailpoints } from './failpoints.ts';
import { freePort } from './free-port.ts';
import type { History } from './history.ts';
import { Ledger } from './ledger.ts';
import { Ownline } from './ownline.ts';
import { database, fromOutside, Rounds } from './rounds.ts';
import { inRunFolder } from './run-folder.ts';
import { killSettings } from './settings.ts';
import { describeViolations, drawTable } from './table.ts';
import { unfoundFaults } from './unfound-faults.ts';
import { usualTeams, World } from './world.ts';

export interface KillsOptions {
  readonly perPoint: number;
  /** If the list is empty, all failpoints. */
  readonly points: readonly string[];
  readonly outside: number;
  readonly database: number;
  readonly keep: boolean;
}

/**
 * Kills the service at each failpoint and at random moments, and kills its database. Then the clients' record is
 * checked. Afterwards the checker has to find every seeded fault in the record.
 * @returns whether nothing was lost and every failpoint was reached
 */
export async function runKills(options: KillsOptions, signal: AbortSignal): Promise<boolean> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const failpoints = options.points.length > 0 ? options.points : readFailpoints();
  const kept = { name: 'campaign', contents: 'log and data', keep: options.keep };
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
      const unfinished = await runWorld(history, ownline, rounds, { ...options, failpoints }, signal);
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
  options: KillsOptions & { readonly failpoints: readonly string[] },
  signal: AbortSignal,
): Promise<string | undefined> {
  const world = await World.open(history, ownline, await usualTeams(ownline), signal);
  let kills = 0;
  const startedMs = performance.now();
  try {
    world.begin();
    world.read();
    await rounds.run(options, AbortSignal.any([signal, world.signal]), () => {
      kills += 1;
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      if (kills % 25 === 0) process.stderr.write(`${kills} kills in ${seconds} s\n`);
    });
    return await world.settle();
  } finally {
    await world.close();
  }
}
