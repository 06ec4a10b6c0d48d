import type { TestEvent } from 'node:test/reporters';

/** One event of a test, which read-results.ts reads. */
export interface TestLine {
  readonly did: 'began' | 'passed' | 'failed';
  /** Absolute path of the file that calls `test`, `it` or `describe`. */
  readonly file: string;
  /** Title of the test after those of its suites. */
  readonly name: string;
  readonly isSuite: boolean;
  /** Message and stack of a failed test; undefined otherwise. */
  readonly error?: string | undefined;
  /** Time since the process began; `cpuSeconds` is its CPU time so far. */
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Last line of a process that ran to its end. */
export interface CountsLine {
  readonly did: 'counted';
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Reporter of node:test that writes a JSON line for each test, with the titles of its suites.
 * A file that hangs is found by its tests that began and did not end.
 */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter by its default export.
export default async function* fileReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // Node reports a test after it began, so begun and reported tests have separate lists of the suites around them.
  const begun: string[] = [];
  const reported: string[] = [];
  const named = (
    suites: string[],
    { nesting, name }: { readonly nesting: number; readonly name: string },
  ) => {
    suites[nesting] = name;
    return suites.slice(0, nesting + 1).join(' › ');
  };
  for await (const { type, data } of events) {
    if (type === 'test:summary') yield line({ did: 'counted', counts: { ...data.counts } });
    if (type === 'test:start') named(reported, data);
    if (type !== 'test:dequeue' && type !== 'test:pass' && type !== 'test:fail') continue;
    const { user, system } = process.cpuUsage();
    const at = { file: data.file ?? '', seconds: process.uptime(), cpuSeconds: (user + system) / 1e6 };
    if (type === 'test:dequeue')
      yield line({ did: 'began', name: named(begun, data), isSuite: false, ...at });
    else {
      const isFailed = type === 'test:fail' && data.todo === undefined;
      const name = named(reported, data);
      yield line({
        did: isFailed ? 'failed' : 'passed',
        name,
        isSuite: data.details.type === 'suite',
        error: isFailed ? describeError(data.details.error) : undefined,
        ...at,
      });
    }
  }
}

/** Node's error names the test; its cause is the error that the test threw. */
function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

function line(of: TestLine | CountsLine): string {
  return `${JSON.stringify(of)}\n`;
}
