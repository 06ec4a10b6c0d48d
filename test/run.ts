import { globSync } from 'node:fs';
import { runTests } from '#test/support/runner/run-files.ts';
import { withTestEngine } from '#test/support/runner/test-engine.ts';

/** `npm test`, or `npm test -- test/messages/send.test.ts`. Limits in seconds: `--file-limit=600`, `--run-limit=3600`. */
const words = process.argv.slice(2);
const files = words.filter((word) => !word.startsWith('-'));
const limits = new Map(words.flatMap((word) => readLimit(word) ?? []));
const options = words.filter((word) => word.startsWith('-') && !readLimit(word));
const found = files.length > 0 ? files : globSync('test/**/*.test.ts').sort();
process.exitCode = await withTestEngine((url, ending) =>
  runTests({
    files: found,
    settings: { TEST_ENGINE_URL: url },
    options,
    ending,
    fileLimitSeconds: limits.get('file'),
    runLimitSeconds: limits.get('run'),
  }),
);

function readLimit(word: string): [[string, number]] | undefined {
  const [, name, seconds] = /^--(file|run)-limit=(\d+)$/.exec(word) ?? [];
  return name === undefined ? undefined : [[name, Number(seconds)]];
}
