import { globSync } from 'node:fs';
import { runTests, withTestEngine } from '#test/support/test-engine.ts';

/** `npm test`, or `npm test -- test/api/send.test.ts`. */
const words = process.argv.slice(2);
const files = words.filter((word) => !word.startsWith('-'));
const options = words.filter((word) => word.startsWith('-'));
const found = files.length > 0 ? files : globSync('test/**/*.test.ts').sort();
process.exitCode = await withTestEngine((url, ending) =>
  runTests({ files: found, settings: { TEST_ENGINE_URL: url }, options, ending }),
);
