import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CountsLine, TestLine } from './file-reporter.ts';

/** The entry of every process. If no file registers a test, Node reports this entry as a passed test. */
const entry = realpathSync(fileURLToPath(new URL('load-files.ts', import.meta.url)));

/** How a process ended: by itself, at its time limit, or with the whole run. */
export type ProcessEnd = 'exit' | 'limit' | 'run';

export interface FailedTest {
  readonly name: string;
  /** Message and stack. */
  readonly error: string;
}

export interface FileResult {
  readonly file: string;
  readonly isPassed: boolean;
  /** True if the process ran to the end of its tests. */
  readonly isComplete: boolean;
  readonly ended: ProcessEnd;
  /** Exit code of the process; null after a signal. */
  readonly code: number | null;
  readonly seconds: number;
  /** CPU time of the node process. */
  readonly cpuSeconds: number;
  readonly failed: readonly FailedTest[];
  /** Tests that had begun when the process ended. */
  readonly unfinished: readonly string[];
}

export interface ProcessResult {
  /** Results by file; empty if the process's output does not tell which file failed. */
  readonly files: readonly FileResult[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Ended {
  readonly ended: ProcessEnd;
  readonly code: number | null;
  readonly seconds: number;
  /** True if only some tests were requested, so that a file may have none of them. */
  readonly isFiltered: boolean;
}

/**
 * Reads the report of a process. A process of one file passes with exit code 0, no failed test and at least one test.
 * The results of a process with several files count only if it ran to its end and each failure belongs to one file.
 * @param text the lines of file-reporter.ts
 */
export function readResults(files: readonly string[], text: string, end: Ended): ProcessResult {
  // The last line may be incomplete, if the process was ended.
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
    // Only files with a test that began were run.
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

/** Files with their lines and the time from the first to the last line. */
function inOrder(files: readonly string[], lines: readonly TestLine[]) {
  return files.map((file) => {
    const own = linesOf(file, lines);
    return { file, lines: own, seconds: (own.at(-1)?.seconds ?? 0) - (own[0]?.seconds ?? 0) };
  });
}

/** Counts the tests of a process that ended before its own counting. */
function countOf(lines: readonly TestLine[]): Record<string, number> {
  const tests = lines.filter(({ did, isSuite }) => did !== 'began' && !isSuite);
  const passed = tests.filter(({ did }) => did === 'passed').length;
  return { tests: tests.length, passed, failed: tests.length - passed };
}

function outcomes(lines: readonly TestLine[]): Pick<FileResult, 'failed' | 'unfinished'> {
  const failed: FailedTest[] = [];
  const open = new Set<string>();
  const suites = new Set<string>();
  for (const { did, name, isSuite, error = '' } of lines) {
    if (did === 'began') open.add(name);
    else open.delete(name);
    if (did !== 'began' && isSuite) suites.add(name);
    if (did === 'failed') failed.push({ name, error });
  }
  // A failed suite is named only if none of its tests failed, as after a failed hook.
  const isNamedByTests = (name: string) =>
    suites.has(name) && failed.some((other) => other.name.startsWith(`${name} › `));
  const isNamedByOpen = (name: string) => [...open].some((other) => other.startsWith(`${name} › `));
  return {
    failed: failed.filter(({ name }) => !isNamedByTests(name)),
    unfinished: [...open].filter((name) => !isNamedByOpen(name)),
  };
}
