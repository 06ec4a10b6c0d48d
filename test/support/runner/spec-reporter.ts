import { PassThrough, Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

const isCount = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** Node's own report of a file without its final counts, as the runner prints those of the whole run. */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter by its default export.
export default async function* specReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  async function* withoutCounts() {
    for await (const event of events) {
      if (event.type !== 'test:diagnostic' || !isCount.test(event.data.message)) yield event;
    }
  }
  for await (const chunk of Readable.from(withoutCounts()).pipe(new spec()).pipe(new PassThrough()))
    yield String(chunk);
}
