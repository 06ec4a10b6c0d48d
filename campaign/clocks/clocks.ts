import { realpathSync } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { alignColumns } from '../align.ts';
import { check } from '../checker.ts';
import type { Command } from '../command.ts';
import { freePort } from '../free-port.ts';
import { type History, rowsOf } from '../history.ts';
import { readOptions } from '../options.ts';
import { Ownline, repository } from '../ownline.ts';
import { inRunFolder } from '../run-folder.ts';
import { shortTimes } from '../settings.ts';
import { describeViolations } from '../table.ts';
import { usualPace } from '../team.ts';
import { usualTeams, World } from '../world.ts';
import { FakeClock, findFaketime } from './faketime.ts';
import { openKeeper } from './keeper.ts';
import { type Limits, openLimits } from './limits.ts';
import { Postgres } from './postgres.ts';

/** The clock to set: PostgreSQL's, that of the service's machine, or both, as on one machine. */
const clocks = ['database', 'service', 'both'] as const;
type ClockName = (typeof clocks)[number];

interface ClocksOptions {
  readonly clocks: readonly ClockName[];
  /** Seconds to set the clock ahead; negative: back. */
  readonly steps: readonly number[];
  /** How long a clock is wrong, in seconds. */
  readonly forSeconds: number;
  readonly repository: string;
  readonly keep: boolean;
}

/** A pace of some 5 messages a second for almost an hour, below the limits of inbound messages of a phone. */
const pace = { ...usualPace, sendPauseMs: 1_000, inboundMs: 2_000 };

/** The window of a rate limiter, plus a second in which the processes notice the clock's step. */
const minuteMs = 61_000;

type Result = Awaited<ReturnType<typeof runStep>>;

const unitSeconds: Readonly<Record<string, number>> = { y: 365 * 86_400, d: 86_400, h: 3_600, m: 60, s: 1 };

const steps = ['+1h', '-1h', '+1d', '-1d', '+1y', '-1y'];

export const clocksCommand: Command = {
  usage: `clocks [--clock ${clocks.join('|')} …] [--step +1d …] [--for 60] [--repository PATH] [--keep]

Sets clocks under load, each for --for seconds, with a restart in the middle of it and one afterwards: that of the
database, of the machine of the service, or of one machine with both. Checks that no request is refused wrongly a minute
later, that nothing expired or was lost, and that the step was logged. --step: ahead or back, in s, m, h, d or y; by
default ${steps.join(', ')}. --repository: the service of another checkout. --keep: leaves history, log and data behind. Needs libfaketime.`,
  run: (args, signal) => {
    const values = readOptions(attachSteps(args), { clock: [], step: [], for: 60, repository, keep: false });
    const options = {
      clocks: values.clock.length > 0 ? values.clock.map(readClock) : clocks,
      steps: (values.step.length > 0 ? values.step : steps).map(readStep),
      forSeconds: values.for,
      repository: realpathSync(values.repository),
      keep: values.keep,
    };
    return runClocks(options, signal);
  },
};

/** Joins `--step -1d` to one word, because parseArgs would read `-1d` as an option. */
function attachSteps(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    if (word === '--step') return `--step=${words[index + 1] ?? ''}`;
    return words[index - 1] === '--step' ? [] : word;
  });
}

function readClock(text: string): ClockName {
  const found = clocks.find((clock) => clock === text);
  if (found) return found;
  throw new Error(`--clock must be one of ${clocks.join(', ')}, not "${text}".`);
}

function readStep(text: string): number {
  const [, sign, count = '', unit = ''] = /^([+-])(\d{1,4})([smhdy])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (sign !== undefined && seconds > 0) return sign === '-' ? -seconds : seconds;
  throw new Error(`--step must be like +1d or -90m, not "${text}".`);
}

/**
 * Sets clocks ahead and back under load, with service restarts during and after each step. It then looks for wrong
 * 429s and expired items, and checks the run's record as the kill campaign does.
 * @returns whether everything holds
 */
async function runClocks(options: ClocksOptions, signal: AbortSignal): Promise<boolean> {
  const library = findFaketime();
  const kept = { name: 'clocks', contents: 'log and data', keep: options.keep };
  return inRunFolder(kept, async (folder, history) => {
    const [databaseDir, dataDir] = [join(folder, 'database'), join(folder, 'data')];
    const logFile = join(folder, 'service.log');
    const fake = {
      database: new FakeClock(library, join(folder, 'database-clock')),
      service: new FakeClock(library, join(folder, 'service-clock')),
    };
    for (const clock of Object.values(fake)) await clock.set(0);
    const own = { repository: options.repository, logFile, port: await freePort() };
    const embedded = new Ownline({ ...own, dataDir: databaseDir, settings: shortTimes });
    await embedded.start().finally(() => embedded.stop());
    // The service now uses this PostgreSQL by DATABASE_URL, with a separate data folder.
    await mkdir(dataDir, { mode: 0o700 });
    for (const file of ['secrets.key', 'first-start.txt'])
      await copyFile(join(databaseDir, file), join(dataDir, file));
    const postgres = new Postgres({ dataDir: databaseDir, environment: fake.database.environment });
    const settings = { ...shortTimes, ...fake.service.environment, DATABASE_URL: postgres.url };
    const ownline = new Ownline({ ...own, dataDir, settings });
    try {
      await postgres.start();
      await ownline.start();
      const stage: Stage = { options, signal, history, ownline, logFile, fake };
      const { results, unfinished, probeFailure } = await runSteps(stage);
      const violations = check(history.rows);
      const say = (text: string) => process.stdout.write(`${text}\n`);
      say(alignColumns(columns, results));
      for (const { clock, step, missing } of results)
        if (missing.length > 0) say(`\n${clock} ${named(step)}: ${missing.join('; ')}.`);
      if (violations.length > 0) say(`\n${describeViolations(violations)}`);
      if (unfinished) say(`\nIt did not become quiet: ${unfinished}.`);
      if (probeFailure) say(`\nThe probe of the limits ended: ${probeFailure}.`);
      const count = rowsOf(history.rows, 'send_accepted').length;
      say(`\n${count} sends accepted, ${violations.length} violations.`);
      return !unfinished && !probeFailure && violations.length === 0 && results.every(holds);
    } finally {
      await ownline.stop();
      await postgres.stop();
    }
  });
}

interface Stage {
  readonly options: ClocksOptions;
  readonly signal: AbortSignal;
  readonly history: History;
  readonly ownline: Ownline;
  readonly logFile: string;
  readonly fake: Readonly<Record<'database' | 'service', FakeClock>>;
}

async function runSteps(stage: Stage) {
  const { options, signal, history, ownline } = stage;
  const world = await World.open(history, ownline, await usualTeams(ownline), signal, pace);
  const results: Result[] = [];
  const over = new AbortController();
  const ending = AbortSignal.any([signal, world.signal, over.signal]);
  try {
    const missing = await openKeeper(ownline, ending);
    const limits = await openLimits(ownline, ending);
    /** Why the requests that look for wrong 429s ended early; undefined if they ran to the end. */
    let probeFailure: string | undefined;
    const probing = limits.probe(over.signal).catch((error: unknown) => {
      // The end of the run aborts the probe's last request, which is no failure.
      if (!ending.aborted) probeFailure = String(error);
    });
    world.begin();
    world.read();
    for (const clock of options.clocks) {
      for (const step of options.steps) {
        const result = await runStep(stage, { clock, step, missing, limits, ending });
        process.stderr.write(`${clock} ${named(step)}: ${holds(result) ? 'holds' : 'does not hold'}\n`);
        results.push(result);
      }
    }
    // If a limit refuses a request of the campaign itself, the results so far are still printed.
    const unfinished = await world.settle().catch((error: unknown) => String(error));
    over.abort();
    await probing;
    return { results, unfinished, probeFailure };
  } finally {
    over.abort();
    await world.close();
  }
}

interface Step {
  readonly clock: ClockName;
  readonly step: number;
  /** Returns the names of items that expired. */
  readonly missing: () => Promise<string[]>;
  readonly limits: Limits;
  readonly ending: AbortSignal;
}

async function runStep(stage: Stage, { clock, step, missing, limits, ending }: Step) {
  const { ownline, options, logFile, fake } = stage;
  const set = async (seconds: number) => {
    if (clock !== 'service') await fake.database.set(seconds);
    if (clock !== 'database') await fake.service.set(seconds);
  };
  const wait = (ms: number) => pause(ms, undefined, { signal: ending });
  const wrongBefore = limits.wrong();
  const loggedBefore = await countSteps(logFile);
  const halfMs = (options.forSeconds * 1_000) / 2;
  await set(step);
  await wait(halfMs);
  let shown = await isUnsettled(ownline);
  await limits.useUp();
  await ownline.stop();
  await ownline.start();
  await limits.useUp();
  await wait(halfMs);
  shown ||= await isUnsettled(ownline);
  await set(0);
  await wait(minuteMs);
  const openAfterMinute = await limits.isOpen();
  await ownline.stop();
  await ownline.start();
  const openAfterRestart = await limits.isOpen();
  return {
    clock,
    step,
    shown,
    openAfterMinute,
    openAfterRestart,
    missing: await missing(),
    wrong429: limits.wrong() - wrongBefore,
    logged: (await countSteps(logFile)) - loggedBefore,
  };
}

/** Whether a step did no harm. Steps of the database's clock must be logged and shown, other steps must not. */
function holds(result: Result): boolean {
  const isSeen = result.clock !== 'service';
  const isOpen = result.openAfterMinute && result.openAfterRestart;
  const isRight = result.wrong429 === 0 && isOpen && result.missing.length === 0;
  return isRight && result.shown === isSeen && result.logged > 0 === isSeen;
}

async function isUnsettled({ baseUrl }: Ownline): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`);
  const body = (await answer.json()) as { readonly clock?: { readonly settled?: boolean } };
  return body.clock?.settled === false;
}

async function countSteps(logFile: string): Promise<number> {
  return (await readFile(logFile, 'utf8')).split('\n').filter((line) => /clock was set/.test(line)).length;
}

const yes = (is: boolean) => (is ? 'yes' : 'no');

const columns: Readonly<Record<string, (result: Result) => string | number>> = {
  clock: ({ clock }) => clock,
  step: ({ step }) => named(step),
  'wrong 429': ({ wrong429 }) => wrong429,
  'open a minute later': ({ openAfterMinute }) => yes(openAfterMinute),
  'after a restart': ({ openAfterRestart }) => yes(openAfterRestart),
  expired: ({ missing }) => missing.length,
  'steps logged': ({ logged }) => logged,
  shown: ({ shown }) => yes(shown),
};

/** Formats seconds with a sign and one unit: `+1d`. */
function named(step: number): string {
  const seconds = Math.abs(step);
  const [unit, size] = Object.entries(unitSeconds).find(([, length]) => seconds % length === 0) ?? ['s', 1];
  return `${step < 0 ? '-' : '+'}${seconds / size}${unit}`;
}
