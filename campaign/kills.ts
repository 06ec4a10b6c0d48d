import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './checker.ts';
import { readFailpoints } from './failpoints.ts';
import { freePort } from './free-port.ts';
import { History, type Row } from './history.ts';
import { Ledger } from './ledger.ts';
import { Ownline } from './ownline.ts';
import { database, fromOutside, Rounds } from './rounds.ts';
import { seededFaults } from './seeded-faults.ts';
import { soundHistory } from './sound-history.ts';
import { describeViolations, drawTable } from './table.ts';
import { World } from './world.ts';

export interface KillsOptions {
  readonly perPoint: number;
  /** undefined: all failpoints. */
  readonly points: readonly string[] | undefined;
  readonly outside: number;
  readonly database: number;
  readonly keep: boolean;
}

/** Short times, so that all attempts of a delivery take only seconds. */
const settings = {
  EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  WEBHOOK_OFFSETS_SECONDS: '0,1,2,3',
  WEBHOOK_TIMEOUT_MS: '2000',
  MEDIA_TIMEOUT_MS: '2000',
  DEVICE_HOLD_SECONDS: '2',
  DEVICE_LEASE_SECONDS: '30',
  RATE_LIMITS: 'off',
  PACING: 'off',
  LOG_LEVEL: 'warn',
};

/**
 * Kills the service at each failpoint and at random moments, and kills its database. Then the clients' record is
 * checked. The checker has to find every seeded fault, first in a made-up history and then in the record.
 * @returns whether nothing was lost and every failpoint was reached
 */
export async function runKills(options: KillsOptions, signal: AbortSignal): Promise<boolean> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const blind = unfound(soundHistory());
  if (blind.length > 0)
    throw new Error(`The checker misses faults that were put into a correct history: ${blind.join(', ')}.`);
  const failpoints = options.points ?? readFailpoints();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ownline-campaign-')));
  // The mode lets other users enter the folder, because PostgreSQL may run as another user.
  await chmod(folder, 0o711);
  const history = new History(join(folder, 'history.jsonl'));
  const ownline = new Ownline({
    dataDir: join(folder, 'data'),
    logFile: join(folder, 'service.log'),
    port: await freePort(),
    settings,
  });
  const rounds = new Rounds(ownline, history);
  let isClean = false;
  try {
    await ownline.start();
    const unrest = await runWorld(history, ownline, rounds, { ...options, failpoints }, signal);
    const violations = check(history.rows);
    const missed = violations.length > 0 ? [] : unfound(history.rows);
    const wasKilled = (place: string) =>
      history.rows.some((row) => row.did === 'killed' && row.point === place);
    const places = [...failpoints, ...[fromOutside, database].filter(wasKilled)];
    say(drawTable(new Ledger(history.rows), places, violations));
    if (violations.length > 0) say(`\n${describeViolations(violations)}`);
    for (const point of rounds.unreached) say(`\nThe failpoint "${point}" was never reached.`);
    for (const name of missed) say(`\nThe checker would not have found in this history: ${name}.`);
    if (unrest) say(`\nIt did not become quiet: ${unrest}.`);
    isClean = !unrest && violations.length === 0 && rounds.unreached.size === 0 && missed.length === 0;
    return isClean;
  } finally {
    await ownline.stop();
    history.close();
    if (isClean && !options.keep) await rm(folder, { recursive: true, force: true });
    else say(`\nHistory, log and data: ${folder}`);
  }
}

async function runWorld(
  history: History,
  ownline: Ownline,
  rounds: Rounds,
  options: KillsOptions & { readonly failpoints: readonly string[] },
  signal: AbortSignal,
): Promise<string | undefined> {
  const world = await World.open(history, ownline, signal);
  let kills = 0;
  const startedMs = performance.now();
  try {
    world.begin();
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

/** Seeded faults that the checker does not find in the given history. */
function unfound(rows: readonly Row[]): string[] {
  return seededFaults
    .filter(({ rule, sow }) => !check(sow(rows)).some((violation) => violation.rule === rule))
    .map((fault) => fault.name);
}
