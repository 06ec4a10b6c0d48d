import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { repository } from '#test/support/processes/spawned-service.ts';
import { until } from '#test/support/service/until.ts';

const head = "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n";
const files: Readonly<Record<string, string>> = {
  failing: `${head}describe('a suite', () => it('a test fails', () => assert.fail('on purpose')));`,
  hanging: `${head}it('a test hangs', () => new Promise(() => setInterval(() => {}, 1000)));`,
  broken: `${head}it('a test is registered', () => {}); throw new Error('does not load');`,
  empty: 'export {};',
  passing: `${head}it('a test passes', () => {});`,
};

it('a failing, hanging, broken or empty test file fails the run, which names it (docs/testing.md)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
  const path = (name: string) => join(folder, `${name}.test.mjs`);
  for (const [name, text] of Object.entries(files)) await writeFile(path(name), text);
  // With this variable Node would add the files of the inner run to the outer one.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const run = spawn(process.execPath, ['test/run.ts', '--file-limit=10', ...Object.keys(files).map(path)], {
    cwd: repository,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  run.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  try {
    assert.equal(await until('the run ends', () => run.exitCode ?? undefined, 60_000), 1);
    const report = printed.slice(printed.indexOf('ℹ files'));
    for (const line of [
      'ℹ files 5, of which 4 failed\n',
      `✖ ${path('failing')}\n    failed: a suite › a test fails\n`,
      `✖ ${path('hanging')}: ended after 10 s\n    had not ended: a test hangs\n`,
      `✖ ${path('broken')}\n    failed: ${path('broken')} does not load\n`,
      `✖ ${path('empty')}: ran no test\n`,
    ])
      assert.ok(report.includes(line), report);
    assert.ok(!report.includes(`✖ ${path('passing')}`), report);
  } finally {
    run.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
});
