import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSlow } from './find-test-files.ts';
import { groupFiles } from './group-files.ts';
import type { FileResult } from './read-results.ts';
import { type RunResult, runProcess } from './test-process.ts';

export interface TestRun {
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  /** Options of node. */
  readonly options?: readonly string[];
  readonly fileLimitSeconds?: number | undefined;
  readonly runLimitSeconds?: number | undefined;
  readonly processesAtOnce?: number | undefined;
  readonly ending: AbortSignal;
  /** Crashes of the shared PostgreSQL so far. A file that failed during a crash runs again, once. */
  readonly crashes?: () => Promise<readonly string[]>;
}

/** Number of slowest files that the report of a run names. */
const slowestShown = 10;

const errorLinesMax = 12;
const errorLineMax = 300;

/** On two cores, this many processes use both, while some wait for events. Slow files wait less. */
const usualProcesses = { fast: 5, slow: 4 };

/**
 * Runs test files in several processes, each ended at its limit. If a process ends early, each of its files runs alone.
 * The final report names each file and test that failed, hung or was not run.
 * @returns the exit code: 1 if anything failed or was ended
 */
export async function runTests(run: TestRun): Promise<number> {
  const { files, settings, options = [], crashes = async () => [] } = run;
  const {
    fileLimitSeconds = 600,
    runLimitSeconds = 3_600,
    processesAtOnce = usualProcesses[files.some(isSlow) ? 'slow' : 'fast'],
  } = run;
  const beganMs = performance.now();
  const limit = AbortSignal.timeout(runLimitSeconds * 1_000);
  const ending = AbortSignal.any([run.ending, limit]);
  const folder = await mkdtemp(join(tmpdir(), 'ot-'));
  // PostgreSQL's user has to enter the folder.
  await chmod(folder, 0o755);
  const waiting = groupFiles(files, processesAtOnce);
  const results: RunResult[] = [];
  const print = files.length > 1 ? (text: string) => process.stdout.write(text) : undefined;
  const broken: string[][] = [];
  const repeated = new Set<string>();
  let processes = 0;
  const work = async () => {
    for (let next = waiting.shift(); next && !ending.aborted; next = waiting.shift()) {
      const before = (await crashes()).length;
      processes += 1;
      const result = await runProcess({
        files: next,
        // The names have equal lengths, so that no path is a prefix of another. The processes of a folder are found
        // by its path.
        folder: join(folder, String(processes).padStart(4, '0')),
        settings,
        options,
        ending,
        print,
        limitMs: fileLimitSeconds * 1_000 * Math.max(1, next.filter(isSlow).length),
      });
      const crashed = (await crashes()).slice(before);
      const hit = result.files.filter(({ file, isPassed }) => !isPassed && !repeated.has(file));
      if (crashed.length > 0 && hit.length > 0) {
        const names = hit.map(({ file }) => file);
        process.stdout.write(`ℹ PostgreSQL crashed: ${names.join(' ')} run again\n${crashed.join('\n')}\n`);
        for (const name of names) repeated.add(name);
        waiting.unshift(...names.map((name) => [name]));
        results.push({ ...result, files: result.files.filter(({ isPassed }) => isPassed), counts: {} });
        continue;
      }
      results.push(result);
      if (result.files.length === 0) {
        process.stdout.write(`✖ a process of ${next.length} files broke off: each runs alone now\n`);
        broken.push(next);
        waiting.unshift(...next.map((file) => [file]));
      }
      for (const { file, ended } of result.files) {
        if (ended === 'limit') process.stdout.write(`✖ ${file} was ended after ${fileLimitSeconds} s\n`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: processesAtOnce }, work));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  }
  const ran = results.flatMap((result) => result.files);
  const notRun = files.filter((file) => !ran.some((result) => result.file === file));
  const lines = [
    ...sums(results, ran),
    `ℹ seconds ${Math.round((performance.now() - beganMs) / 1_000)}`,
    ...describeSlowest(ran),
    ...broken.map((group) => `✖ a process of these files broke off: ${group.join(' ')}`),
    ...results.flatMap(describeLeft),
    ...ran.flatMap((result) => describeFailure(result, fileLimitSeconds)),
    ...(limit.aborted ? [`✖ the run was ended after ${runLimitSeconds} s`] : []),
    ...(notRun.length > 0 ? [`✖ not run: ${notRun.join(' ')}`] : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  const isGreen = notRun.length + broken.length === 0 && ran.every(({ isPassed }) => isPassed);
  return isGreen ? 0 : 1;
}

function sums(results: readonly RunResult[], files: readonly FileResult[]): string[] {
  const sum = (name: string) => results.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
  return [
    `ℹ files ${files.length}, of which ${files.filter(({ isPassed }) => !isPassed).length} failed`,
    ...[['tests'], ['passed', 'pass'], ['failed', 'fail'], ['cancelled'], ['skipped'], ['todo']].map(
      ([name = '', shown = name]) => `ℹ ${shown} ${sum(name)}`,
    ),
  ];
}

/** The slowest files of a run, with their times. */
function describeSlowest(results: readonly FileResult[]): string[] {
  if (results.length < 2) return [];
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  return [
    'ℹ slowest files, in seconds, and those of CPU in node:',
    ...slowest.map(
      ({ file, seconds, cpuSeconds }) =>
        `    ${seconds.toFixed(1).padStart(6)} ${cpuSeconds.toFixed(1).padStart(6)}  ${file}`,
    ),
  ];
}

function describeLeft({ files, left }: RunResult): string[] {
  const names = files.map(({ file }) => file).join(' ');
  return left.length === 0 ? [] : [`ℹ ${names} left processes behind, which were ended: ${left.join(' · ')}`];
}

/** The beginning of an error, for a log of which only the end is read. */
function firstLines(error: string): string[] {
  const lines = error.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, errorLinesMax).map((line) => `      ${line.slice(0, errorLineMax)}`);
}

function describeFailure(result: FileResult, limitSeconds: number): string[] {
  const { file, isPassed, isComplete, ended, code, failed, unfinished } = result;
  if (isPassed) return [];
  const why =
    ended === 'limit'
      ? `: ended after ${limitSeconds} s`
      : ended === 'run'
        ? ': ended with the run'
        : failed.length === 0
          ? `: ${isComplete && code === 0 ? 'ran no test' : `ended with ${code ?? 'a signal'}`}`
          : '';
  return [
    `✖ ${file}${why}`,
    ...failed.flatMap(({ name, error }) => [`    failed: ${name}`, ...firstLines(error)]),
    ...(ended === 'exit' ? [] : unfinished.map((name) => `    had not ended: ${name}`)),
  ];
}
