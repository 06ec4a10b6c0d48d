import { resolve } from 'node:path';
import type { CountsLine, TestLine } from './file-reporter.ts';

/** How a process ended: by itself, past its limit, or with the run. */
export type ProcessEnd = 'exit' | 'limit' | 'run';

export interface FileResult {
  readonly file: string;
  readonly isPassed: boolean;
  /** How its process ended while it ran; `exit` where the file had ended before. */
  readonly ended: ProcessEnd;
  /** Of its process. */
  readonly code: number | null;
  readonly seconds: number;
  /** Of its node process. */
  readonly cpuSeconds: number;
  /** Tests that failed, and those that had begun when the process was ended. */
  readonly failed: readonly string[];
  readonly unfinished: readonly string[];
}

export interface ProcessResult {
  readonly files: readonly FileResult[];
  /** Files that had not begun when the process ended. */
  readonly notRun: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Reads what a process reported of its files, as far as it came. @param text the lines of file-reporter.ts */
export function readResults(
  files: readonly string[],
  text: string,
  { ended, code }: { readonly ended: ProcessEnd; readonly code: number | null },
): ProcessResult {
  // The last line of a process that was ended may be half of one.
  const complete = text.split('\n').filter((line) => line.endsWith('}'));
  const parsed: (TestLine | CountsLine)[] = complete.map((line) => JSON.parse(line));
  const lines = parsed.filter((line) => line.did !== 'counted');
  const counted = parsed.find((line) => line.did === 'counted');
  const linesOf = (file: string) => lines.filter((line) => line.file === resolve(file));
  // Files run one after the other, in an order of node's: the last that began is the one in which a process broke off.
  const begun = [...new Set(lines.map((line) => line.file))].flatMap(
    (path) => files.find((file) => resolve(file) === path) ?? [],
  );
  const inOrder = [...begun, ...files.filter((file) => !begun.includes(file))];
  const last = counted ? undefined : (begun.at(-1) ?? files[0]);
  // A process that fails without a failed test fails its last file.
  const isUnexplained = counted && code !== 0 && !lines.some(({ did }) => did === 'failed');
  let before = { seconds: 0, cpuSeconds: 0 };
  const results = inOrder.flatMap((file): FileResult[] => {
    const own = linesOf(file);
    if (own.length === 0 && file !== last && !counted) return [];
    const end = own.at(-1) ?? before;
    const seconds = end.seconds - before.seconds;
    const cpuSeconds = end.cpuSeconds - before.cpuSeconds;
    before = end;
    const { failed, unfinished } = outcomes(own);
    const isLast = file === last;
    const isFailed = failed.length > 0 || isLast || (isUnexplained && file === inOrder.at(-1));
    return [
      {
        ...{ file, seconds, cpuSeconds, failed, code, isPassed: !isFailed },
        ...(isLast ? { ended, unfinished } : { ended: 'exit', unfinished: [] }),
      },
    ];
  });
  const notRun = files.filter((file) => !results.some((result) => result.file === file));
  return { files: results, notRun, counts: counted?.counts ?? countOf(lines) };
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
