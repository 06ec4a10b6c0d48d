import { execFileSync } from 'node:child_process';
import { findTestFiles, isSlow } from '#test/support/runner/find-test-files.ts';
import { runTests } from '#test/support/runner/run-files.ts';
import { makeTestCluster, withTestEngine } from '#test/support/runner/test-engine.ts';

const usage = `npm test -- [SLICE or FILE …] [options]

npm test runs the fast tests, npm test -- teams those of a slice, npm test -- test/messages/send.test.ts a file.

  --all                 the slow tests, too
  --slow                only the slow tests
  --nightly             only the tests that run before a release
  --postgres URL        a running PostgreSQL instead of the embedded one, for a role that may create roles and databases
  --processes=5         test processes at a time; 4 by default with slow tests
  --file-limit=600      seconds that a file may take
  --run-limit=3600      seconds that the run may take

Other options go to node: --test-name-pattern="a held poll".
`;

const words = process.argv.slice(2);
if (words.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
const postgres = words.includes('--postgres') ? words.splice(words.indexOf('--postgres'), 2)[1] : undefined;
const names = words.filter((word) => !word.startsWith('-'));
const kind = (['all', 'slow', 'nightly'] as const).find((word) => words.includes(`--${word}`)) ?? 'fast';
const numbers = new Map(words.flatMap((word) => readNumber(word) ?? []));
const options = words.filter(
  (word) => word.startsWith('-') && !readNumber(word) && !/^--(all|slow|nightly)$/.test(word),
);
const isOfEngine = (file: string) => /^test\/database\/(engine|explain-database|own-postgresql)/.test(file);
const all = findTestFiles(names, kind);
const found = postgres === undefined ? all : all.filter((file) => !isOfEngine(file));
const skipped = all.filter((file) => !found.includes(file));
if (skipped.length > 0)
  process.stdout.write(`ℹ skipped, as they start the embedded engine: ${skipped.join(' ')}\n`);
// Builds the dashboard once, before the test processes that serve it start.
execFileSync(process.execPath, ['web/build.ts'], { stdio: 'inherit' });
const cluster = found.filter(isSlow).length > 1 ? await makeTestCluster() : undefined;
try {
  process.exitCode = await withTestEngine(
    ({ url, crashes }, ending) =>
      runTests({
        files: found,
        settings: { TEST_ENGINE_URL: url, ...(cluster && { TEST_CLUSTER: cluster.folder }) },
        options,
        ending,
        crashes,
        fileLimitSeconds: numbers.get('file-limit'),
        runLimitSeconds: numbers.get('run-limit'),
        processesAtOnce: numbers.get('processes'),
      }),
    found.some(isSlow) ? 'disk' : 'memory',
    postgres,
  );
} finally {
  await cluster?.remove();
}

function readNumber(word: string): [[string, number]] | undefined {
  const [, name, digits] = /^--(file-limit|run-limit|processes)=([1-9]\d*)$/.exec(word) ?? [];
  return name === undefined ? undefined : [[name, Number(digits)]];
}
