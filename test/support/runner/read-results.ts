import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CountsLine, TestLine } from './file-reporter.ts';

/** The entry of every process. Node reports it as a passed test where no file registers one. */
const entry = realpathSync(fileURLToPath(new URL('load-files.ts', import.meta.url)));

/** How a process ended: by itself, past its limit, or with the run. */
export type ProcessEnd = 'exit' | 'limit' | 'run';

export interface FileResult {
  readonly file: string;
  readonly isPassed: boolean;
  /** Its process came to the end of its tests. */
  readonly isComplete: boolean;
  readonly ended: ProcessEnd;
  /** Exit code of its process; null after a signal. */
  readonly code: number | null;
  readonly seconds: number;
  /** CPU time of its node process. */
  readonly cpuSeconds: number;
  /** Tests that failed, and those that had begun when the process ended. */
  readonly failed: readonly string[];
  readonly unfinished: readonly string[];
}

export interface ProcessResult {
  /** Empty where the process gives no verdict on its files. */
  readonly files: readonly FileResult[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Ended {
  readonly ended: ProcessEnd;
  readonly code: number | null;
  readonly seconds: number;
  /** Only some tests were asked for, so that a file may have none of them. */
  readonly isFiltered: boolean;
}

/**
 * Reads what a process reported of its files. A process of one file passes with exit code 0, no failed test and at least
 * one test. A process of several gives a verdict only where it came to its end and each failure belongs to one of them.
 * @param text the lines of file-reporter.ts
 */
export function readResults(files: readonly string[], text: string, end: Ended): ProcessResult {
  // The last line of a process that was ended may be half of one.
  const complete = text.split('\n').filter((line) => line.endsWith('}'));
  const parsed: (TestLine | CountsLine)[] = complete.map((line) => JSON.parse(line));
  const reported = parsed.filter((line) => line.did !== 'counted');
  const isEmpty = reported.every(({ did, file }) => file === entry && did !== 'failed');
  const lines = isEmpty ? [] : reported;
  const counted = parsed.find((line) => line.did === 'counted')?.counts;
  const counts = counted && isEmpty ? countOf([]) : counted;
  const [only] = files;
  if (only !== undefined && files.length === 1)
    return {
      files: [resultOf(only, lines, end, counts !== undefined)],
      counts: counts ?? countOf(lines),
    };
  if (end.ended === 'run') {
    // The others were not run.
    const begun = files.filter((file) => linesOf(file, lines).length > 0);
    const ofRun = begun.length > 0 ? begun : files;
    return {
      files: ofRun.map((file) => resultOf(file, linesOf(file, lines), end, false)),
      counts: countOf(lines),
    };
  }
  const isExplained = end.code === 0 || lines.some(({ did }) => did === 'failed');
  const isOfFiles = lines.every((line) => files.some((file) => realpathSync(file) === line.file));
  if (counts === undefined || !isExplained || !isOfFiles) return { files: [], counts: {} };
  return { files: inOrder(files, lines).map((own) => resultOf(own.file, own.lines, own, true)), counts };

  function resultOf(
    file: string,
    own: readonly TestLine[],
    { seconds }: { readonly seconds: number },
    isComplete: boolean,
  ): FileResult {
    const { failed, unfinished } = outcomes(own);
    const isPassed =
      isComplete &&
      failed.length === 0 &&
      (own.length > 0 || end.isFiltered) &&
      (end.code === 0 || files.length > 1);
    const [first, last] = [own[0], own.at(-1)];
    const cpuSeconds = (last?.cpuSeconds ?? 0) - (files.length === 1 ? 0 : (first?.cpuSeconds ?? 0));
    return {
      file,
      isPassed,
      isComplete,
      ended: end.ended,
      code: end.code,
      seconds,
      cpuSeconds,
      failed,
      unfinished,
    };
  }
}

function linesOf(file: string, lines: readonly TestLine[]): TestLine[] {
  const path = realpathSync(file);
  return lines.filter((line) => line.file === path);
}

/** The files with their lines and the time from the first to the last of them. */
function inOrder(files: readonly string[], lines: readonly TestLine[]) {
  return files.map((file) => {
    const own = linesOf(file, lines);
    return { file, lines: own, seconds: (own.at(-1)?.seconds ?? 0) - (own[0]?.seconds ?? 0) };
  });
}

/** Counts of a process that did not come to counting them. */
function countOf(lines: readonly TestLine[]): Record<string, number> {
  const tests = lines.filter(({ did, isSuite }) => did !== 'began' && !isSuite);
  const passed = tests.filter(({ did }) => did === 'passed').length;
  return { tests: tests.length, passed, failed: tests.length - passed };
}

function outcomes(lines: readonly TestLine[]): Pick<FileResult, 'failed' | 'unfinished'> {
  const failed: string[] = [];
  const open = new Set<string>();
  const suites = new Set<string>();
  for (const { did, name, isSuite } of lines) {
    if (did === 'began') open.add(name);
    else open.delete(name);
    if (did !== 'began' && isSuite) suites.add(name);
    if (did === 'failed') failed.push(name);
  }
  // A suite fails with its tests; where its hooks failed there is no test to name.
  const isNamedByTests = (name: string) =>
    suites.has(name) && failed.some((other) => other.startsWith(`${name} › `));
  const isNamedByOpen = (name: string) => [...open].some((other) => other.startsWith(`${name} › `));
  return {
    failed: failed.filter((name) => !isNamedByTests(name)),
    unfinished: [...open].filter((name) => !isNamedByOpen(name)),
  };
}
