import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { alignColumns } from '../align.ts';
import type { Command } from '../command.ts';
import { freePort } from '../free-port.ts';
import { readOptions } from '../options.ts';
import { inFolder } from '../run-folder.ts';
import { connectPhone } from '../set-up.ts';
import { type Outcome, phases, runOnce, startAgain } from './run.ts';
import { type Way, ways } from './ways.ts';

export const stopsCommand: Command = {
  usage: `stops [--runs 10] [--way NAME …]

Stops \`npm start\` in each of the ways below, --runs times while it serves requests on existing data and --runs times
at moments of its first start. Each time no process may be left, no request cut, and the exit code has to be 0.
Linux only; the ways in a terminal need script(1). --way: only these:
${ways.map(({ name }) => `  ${name}`).join('\n')}`,
  run: (args, signal) => {
    const { runs, way } = readOptions(args, { runs: 10, way: [] });
    return runStops(runs, way, signal);
  },
};

/** The time limit of `timeout 5 npm start`, as an operator may try it. */
const timeoutMs = 5_000;

const dataStates = ['existing', 'empty'] as const;
type DataState = (typeof dataStates)[number];

interface Row {
  readonly way: Way;
  readonly state: DataState;
  readonly outcomes: readonly Outcome[];
}

/**
 * Runs the stops. @param names of ways; none for all
 * @returns true if no process was left, no request cut or answered 5xx, and every visible exit code was 0
 */
async function runStops(runs: number, names: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('This campaign looks at /proc: it runs on Linux only.');
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const chosen = chooseWays(names);
  const port = await freePort();
  return inFolder({ name: 'stops', contents: 'Logs', keep: false }, async (folder) => {
    const existing = join(folder, 'existing');
    const firstStartMs = performance.now();
    const key = await startAgain(existing, port, (baseUrl, apiKey) =>
      connectPhone(baseUrl, apiKey, '+14155550100', signal),
    );
    const readyMs = performance.now() - firstStartMs;
    const rows: Row[] = [];
    for (const way of chosen) {
      for (const state of dataStates) {
        const outcomes: Outcome[] = [];
        for (let run = 0; run < runs; run += 1) {
          const share = (run + 1) / runs;
          const isEmpty = state === 'empty';
          const dataDir = isEmpty ? join(folder, `${way.name.replaceAll(/\W+/g, '-')}-${run}`) : existing;
          const outcome = await runOnce({
            way,
            dataDir,
            port,
            signal,
            stopAfterMs: stopAfterMs(way, isEmpty, share, readyMs),
            key: isEmpty ? undefined : key,
          });
          outcomes.push(outcome);
          if (!isClean({ way }, outcome)) say(`${way.name}, ${state}, run ${run}: ${describe(outcome)}`);
          if (isEmpty) {
            await startAgain(dataDir, port);
            await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
          }
        }
        rows.push({ way, state, outcomes });
        process.stderr.write(`${way.name}, ${state} data: done\n`);
      }
    }
    say(alignColumns(columns, rows));
    return rows.every((row) => row.outcomes.every((outcome) => isClean(row, outcome)));
  });
}

function chooseWays(names: readonly string[]): readonly Way[] {
  const unknown = names.find((name) => !ways.some((way) => way.name === name));
  if (unknown !== undefined) throw new Error(`"${unknown}" is no known way to start the service.`);
  const hasTerminal = spawnSync('script', ['--version']).error === undefined;
  return ways.filter((way) => {
    if (names.length > 0 && !names.includes(way.name)) return false;
    if (hasTerminal || way.command(0)[0] !== 'script') return true;
    process.stderr.write(`${way.name}: left out, because script(1) is not installed\n`);
    return false;
  });
}

/** On existing data the stop comes during the load. On empty data the stops are spread over the whole first start. */
function stopAfterMs(way: Way, isEmpty: boolean, share: number, readyMs: number): number {
  if (way.stop) return isEmpty ? readyMs * share : 300 + 700 * share;
  return isEmpty ? timeoutMs * share : timeoutMs;
}

function isClean({ way }: Pick<Row, 'way'>, { code, orphans, load, phase }: Outcome): boolean {
  // Before the start only npm runs, and the signal ends npm.
  const isBeforeStart = phase === 'before';
  const isAnswered = load.cut === 0 && (load.failed === 0 || way.stopsDatabase === true);
  return orphans.length === 0 && isAnswered && (code === 0 || code === undefined || isBeforeStart);
}

function describe({ code, orphans, load, phase, output }: Outcome): string {
  const left = orphans.map(({ pid, words }) => `    ${pid} ${words}`).join('\n');
  return `${phase}, exit code ${code}, ${load.cut} cut, ${load.failed} answered 5xx, ${orphans.length} left\n${left}\n${output.slice(-1_000)}`;
}

const sum = (outcomes: readonly Outcome[], of: (outcome: Outcome) => number) =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0);

const columns: Readonly<Record<string, (row: Row) => string | number>> = {
  way: ({ way }) => way.name,
  data: ({ state }) => state,
  runs: ({ outcomes }) => outcomes.length,
  orphans: ({ outcomes }) => sum(outcomes, ({ orphans }) => orphans.length),
  requests: ({ outcomes }) => sum(outcomes, ({ load }) => load.answered + load.cut + load.late),
  cut: ({ outcomes }) => sum(outcomes, ({ load }) => load.cut),
  late: ({ outcomes }) => sum(outcomes, ({ load }) => load.late),
  '5xx': ({ outcomes }) => sum(outcomes, ({ load }) => load.failed),
  'exit codes': ({ outcomes }) => counted(outcomes.map(({ code }) => String(code ?? 'not seen'))),
  'stopped while': ({ outcomes }) =>
    counted(phases.flatMap((phase) => outcomes.flatMap((outcome) => (outcome.phase === phase ? phase : [])))),
};

/** Counts equal words: `initdb × 4, ready × 6`. */
function counted(words: readonly string[]): string {
  return [...Map.groupBy(words, (word) => word)].map(([word, of]) => `${word} × ${of.length}`).join(', ');
}
