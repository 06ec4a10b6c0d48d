import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSlow } from '#test/support/runner/find-test-files.ts';
import { runTests } from '#test/support/runner/run-files.ts';
import { withTestEngine } from '#test/support/runner/test-engine.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { type Score, startJudge } from './judge.ts';
import { installReferees, lint } from './programs.ts';

/** The tests of the API, with the slow ones of test/http. Tests of other slices need more speed than Prism allows. */
const testsOfApi = 'test/{api-keys,audit,events,http,messages,numbers,teams,usage,webhooks}/*.test.ts';

/**
 * `npm run referees`: checks /v1/openapi.json against real answers with programs of other projects
 * (referees/README.md). Arguments name test files: `npm run referees -- test/messages/send.test.ts`.
 */
const named = process.argv.slice(2);
const files =
  named.length > 0
    ? named
    : globSync(testsOfApi)
        .filter((file) => !isSlow(file) || file.startsWith('test/http/'))
        .sort();
const beganMs = performance.now();
await installReferees();
const folder = await mkdtemp(join(tmpdir(), 'ownline-referees-'));
try {
  process.exitCode = await withTestEngine(async ({ url, crashes }, ending) => {
    process.env.TEST_ENGINE_URL = url;
    const document = join(folder, 'openapi.json');
    const served = await servedDocument();
    await writeFile(document, served);
    const complaints = await lint(document);
    const judge = await startJudge(document);
    try {
      const code = await runTests({ files, settings: { TEST_REFEREES_URL: judge.url }, ending, crashes });
      report(judge.score, coverageOf(served, judge.score.seen), complaints, code);
      return code !== 0 || complaints.length > 0 || judge.score.violations.length > 0 ? 1 : 0;
    } finally {
      await judge.stop();
    }
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function servedDocument(): Promise<string> {
  const service = await startTestService();
  try {
    const response = await fetch(`${service.baseUrl}/v1/openapi.json`);
    return await response.text();
  } finally {
    await service.close();
  }
}

function report(score: Score, coverage: Coverage, complaints: readonly string[], code: number): void {
  const { agreeing, refused, elsewhere, violations } = score;
  const { documented, met, successesNotMet } = coverage;
  const lines = [
    `linters: ${complaints.length === 0 ? 'redocly and spectral found nothing' : `${complaints.join(' and ')} complained`}`,
    `tests: ${files.length} files, ${code === 0 ? 'all passed' : 'some failed'}`,
    `requests through Prism: ${agreeing + refused + elsewhere}; ${agreeing} agree with the document, ${refused} break it on purpose and were refused, ${elsewhere} are to no operation`,
    `answers met: ${met} of ${documented} in the document; successes not met: ${successesNotMet.join(', ') || 'none'}`,
    `violations: ${violations.length}`,
    ...[...new Set(violations)].slice(0, 50),
    `${Math.round((performance.now() - beganMs) / 1_000)} s`,
  ];
  console.log(`\n${lines.join('\n')}`);
}
