import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileResult, runFile } from './test-file.ts';

export interface TestRun {
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  /** For node. */
  readonly options?: readonly string[];
  readonly fileLimitSeconds?: number | undefined;
  readonly runLimitSeconds?: number | undefined;
  readonly ending: AbortSignal;
}

/** Files that the report at the end of a run names with their time. */
const slowestShown = 10;

/** On two cores a third file works while the others wait for an event: 7:22 instead of 8:07. */
const filesAtOnce = 3;

/**
 * Runs test files, each in a process group of its own. A failed test never hangs the run: a file ends at its limit, the
 * run at its own, and the report at the end names each file and test that failed, hung or was not run.
 * @returns the exit code: 1 where anything failed or was ended
 */
export async function runTests(run: TestRun): Promise<number> {
  const { files, settings, options = [], fileLimitSeconds = 600, runLimitSeconds = 3_600 } = run;
  const beganMs = performance.now();
  const limit = AbortSignal.timeout(runLimitSeconds * 1_000);
  const ending = AbortSignal.any([run.ending, limit]);
  const folder = await mkdtemp(join(tmpdir(), 'ot-'));
  // PostgreSQL's own user has to pass it.
  await chmod(folder, 0o755);
  // Of equal length: the path of one folder is never the beginning of another's, by which processes are found.
  const waiting = files.map((file, index) => ({
    file,
    folder: join(folder, String(index).padStart(4, '0')),
  }));
  const results: FileResult[] = [];
  const print = files.length > 1 ? (text: string) => process.stdout.write(text) : undefined;
  const work = async () => {
    for (let next = waiting.shift(); next && !ending.aborted; next = waiting.shift()) {
      const result = await runFile({
        ...next,
        settings,
        options,
        ending,
        print,
        limitMs: fileLimitSeconds * 1_000,
      });
      results.push(result);
      if (result.ended === 'limit')
        process.stdout.write(`✖ ${result.file} was ended after ${fileLimitSeconds} s\n`);
    }
  };
  try {
    await Promise.all(Array.from({ length: filesAtOnce }, work));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  }
  const notRun = files.filter((file) => !results.some((result) => result.file === file));
  const lines = [
    ...sums(results),
    `ℹ seconds ${Math.round((performance.now() - beganMs) / 1_000)}`,
    ...describeSlowest(results),
    ...results.flatMap(describeLeft),
    ...results.flatMap((result) => describeFailure(result, fileLimitSeconds)),
    ...(limit.aborted ? [`✖ the run was ended after ${runLimitSeconds} s`] : []),
    ...(notRun.length > 0 ? [`✖ not run: ${notRun.join(' ')}`] : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return notRun.length === 0 && results.every(isPassed) ? 0 : 1;
}

function isPassed({ code, ended }: FileResult): boolean {
  return code === 0 && ended === 'exit';
}

function sums(results: readonly FileResult[]): string[] {
  const sum = (name: string) => results.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
  return [
    `ℹ files ${results.length}, of which ${results.filter((result) => !isPassed(result)).length} failed`,
    ...[['tests'], ['passed', 'pass'], ['failed', 'fail'], ['cancelled'], ['skipped'], ['todo']].map(
      ([name = '', shown = name]) => `ℹ ${shown} ${sum(name)}`,
    ),
  ];
}

/** The files that a change should begin with where the run is too slow. */
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

function describeLeft({ file, left }: FileResult): string[] {
  return left.length === 0 ? [] : [`ℹ ${file} left processes behind, which were ended: ${left.join(' · ')}`];
}

function describeFailure(result: FileResult, limitSeconds: number): string[] {
  if (isPassed(result)) return [];
  const { file, ended, code, failed, unfinished } = result;
  const why =
    ended === 'limit'
      ? `: ended after ${limitSeconds} s`
      : ended === 'run'
        ? ': ended with the run'
        : failed.length === 0
          ? `: ended with ${code ?? 'a signal'}`
          : '';
  return [
    `✖ ${file}${why}`,
    ...failed.map((name) => `    failed: ${name}`),
    ...(ended === 'exit' ? [] : unfinished.map((name) => `    had not ended: ${name}`)),
  ];
}
