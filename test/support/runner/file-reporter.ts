import type { TestEvent } from 'node:test/reporters';

/** One line of what became of a test, as test-file.ts reads it. */
export type TestLine =
  | { readonly did: 'began' | 'passed' | 'failed'; readonly name: string; readonly isSuite: boolean }
  | {
      readonly did: 'counted';
      readonly counts: Readonly<Record<string, number>>;
      readonly cpuSeconds: number;
    };

/**
 * A reporter of node:test for the runner of all files: a JSON line for each test, under its name and those of its
 * suites. What began and did not end is what a file hung in.
 */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter by its default export.
export default async function* fileReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // Tests begin and are reported at different times: each has its own place among suites.
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
    if (type === 'test:summary') {
      const { user, system } = process.cpuUsage();
      yield line({ did: 'counted', counts: { ...data.counts }, cpuSeconds: (user + system) / 1e6 });
    }
    if (type === 'test:dequeue') yield line({ did: 'began', name: named(begun, data), isSuite: false });
    if (type === 'test:start') named(reported, data);
    if (type === 'test:pass' || type === 'test:fail') {
      const did = type === 'test:pass' ? 'passed' : 'failed';
      yield line({ did, name: named(reported, data), isSuite: data.details.type === 'suite' });
    }
  }
}

function line(of: TestLine): string {
  return `${JSON.stringify(of)}\n`;
}
