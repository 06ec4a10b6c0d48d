import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { commandLineOf } from '#server/database/engine/engine-process.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { crashingFile } from '#test/support/runner/crashing-file.ts';
import { groupFiles } from '#test/support/runner/group-files.ts';
import { until } from '#test/support/service/until.ts';

/** A test file that runs until it is killed, with a child process. */
const lasting = `
  import { spawn } from 'node:child_process';
  import { renameSync, writeFileSync } from 'node:fs';
  import { test } from 'node:test';
  test('a test lasts until it is killed', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const seen = { url: process.env.TEST_ENGINE_URL, pids: [process.pid, child.pid] };
    writeFileSync(import.meta.dirname + '/seen.new', JSON.stringify(seen));
    renameSync(import.meta.dirname + '/seen.new', import.meta.dirname + '/seen.json');
    await new Promise((resolve) => child.on('exit', resolve));
  });
`;

/** A test file that fails and leaves a child process, a detached process and a timer that keeps it running. */
const leaving = `
  import assert from 'node:assert/strict';
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  import { describe, it } from 'node:test';
  describe('a suite', () => {
    it('a test fails and leaves processes', () => {
      const forever = ['-e', 'setInterval(() => {}, 1000)'];
      const own = spawn(process.execPath, forever, { stdio: 'inherit' });
      const detached = spawn(process.execPath, forever, { detached: true, stdio: 'inherit' });
      writeFileSync(import.meta.dirname + '/left.json', JSON.stringify([own.pid, detached.pid]));
      setInterval(() => {}, 1000);
      assert.fail('on purpose');
    });
    it('a test passes', () => {});
  });
`;
const hanging = `
  import { test } from 'node:test';
  test('a test hangs', () => new Promise(() => setInterval(() => {}, 1000)));
`;
const broken = `
  import { test } from 'node:test';
  test('a test is registered before its file throws', () => {});
  throw new Error('does not load');
`;
const exiting = `
  import { test } from 'node:test';
  test('a test ends its process', () => process.exit(0));
`;
const empty = `export {};`;
const passing = `
  import { test } from 'node:test';
  test('a test passes', () => {});
`;

const unclean = `
  import './helper.mjs';
  import { test } from 'node:test';
  test('a test passes', () => {});
`;
/** A module whose hook outside of suites fails after all tests have passed. */
const helper = `
  import { after } from 'node:test';
  after(() => { throw new Error('on purpose'); });
`;

/** Test files in which `given` fails: when it makes a thing, and when it closes one. */
const given = `
  import { describe, it } from 'node:test';
  import { given } from '${pathToFileURL(join(repository, 'test/support/service/given.ts'))}';
  const fails = () => { throw new Error('on purpose'); };
  describe('a suite without what it needs', () => {
    given(() => ({}));
    given(fails);
    it('a test without what it needs', () => {});
  });
  describe('a suite that closes nothing', () => {
    given(() => ({}), fails);
    it('a test passes', () => {});
  });
`;

describe('npm test (docs/testing.md)', () => {
  it('a run with failing and hanging tests ends, names them, and leaves no process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
    const files: Record<string, string> = {
      leaving,
      hanging,
      broken,
      exiting,
      empty,
      unclean,
      given,
      passing,
    };
    const path = (name: string) => join(folder, `${name}.test.mjs`);
    for (const [name, text] of Object.entries(files)) await writeFile(path(name), text);
    await writeFile(join(folder, 'helper.mjs'), helper);
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
      const code = await until('the run ends', () => run.exitCode ?? undefined, 60_000);
      assert.equal(code, 1);
      const report = printed.slice(printed.indexOf('ℹ files'));
      assert.match(report, /^ℹ files 8, of which 7 failed$/m);
      assert.match(report, /^ℹ pass 5$/m);
      assert.ok(
        report.includes(`✖ ${path('leaving')}\n    failed: a suite › a test fails and leaves processes\n`),
        report,
      );
      assert.ok(
        report.includes(`✖ ${path('hanging')}: ended after 10 s\n    had not ended: a test hangs\n`),
        report,
      );
      assert.ok(
        report.includes(`✖ ${path('broken')}\n    failed: ${path('broken')} does not load\n`),
        report,
      );
      assert.ok(report.includes(`✖ ${path('unclean')}\n    failed: ${join(folder, 'helper.mjs')}\n`), report);
      const suite = 'a suite without what it needs';
      assert.ok(report.includes(`    failed: ${suite} › a test without what it needs\n`), report);
      assert.ok(report.includes('    failed: a suite that closes nothing\n'), report);
      assert.ok(report.includes(`✖ ${path('exiting')}: ended with 0\n`), report);
      assert.ok(report.includes(`✖ ${path('empty')}: ran no test\n`), report);
      assert.ok(!report.includes(`✖ ${path('passing')}`), report);
      for (const pid of JSON.parse(await readFile(join(folder, 'left.json'), 'utf8'))) {
        await until('what it left ends', async () => (await commandLineOf(pid)) === undefined);
      }
    } finally {
      run.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a file that failed while PostgreSQL crashed runs again, once, and the report shows the crash', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
    const [once, always] = [join(folder, 'once.test.mjs'), join(folder, 'always.test.mjs')];
    await writeFile(once, crashingFile(1));
    await writeFile(always, crashingFile(2));
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    try {
      for (const [file, code] of [
        [once, 0],
        [always, 1],
      ] as const) {
        const run = spawn(process.execPath, ['test/run.ts', file], {
          cwd: repository,
          env: environment,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        let printed = '';
        run.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
        const ended = await until('the run ends', () => run.exitCode ?? undefined, 60_000);
        assert.equal(ended, code, printed);
        assert.match(printed, /^ℹ PostgreSQL crashed: .* run again\n.* signal 11.*\n.*pg_sleep/m);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a run beyond its time limit ends, and names the files that were not run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
    // 33 files make more than four groups. At most four groups run at a time, so each begins with its first file.
    const names = Array.from({ length: 33 }, (_, n) =>
      join(folder, `${String(n).padStart(2, '0')}.test.mjs`),
    );
    for (const name of names) await writeFile(name, hanging);
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const run = spawn(process.execPath, ['test/run.ts', '--run-limit=8', ...names], {
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
      assert.match(printed, /^✖ the run was ended after 8 s$/m);
      const groups = groupFiles(names, 4);
      assert.ok(groups.length > 4);
      const begun = groups.slice(0, 4).flatMap(([first]) => first ?? []);
      for (const name of begun)
        assert.ok(
          printed.includes(`✖ ${name}: ended with the run\n    had not ended: a test hangs\n`),
          printed,
        );
      const notRun = names.filter((name) => !begun.includes(name));
      assert.ok(printed.includes(`✖ not run: ${notRun.join(' ')}\n`), printed);
    } finally {
      run.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    }
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`npm test stops its PostgreSQL, deletes its folder and leaves no process when ${signal} ends it`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
      await writeFile(join(folder, 'lasting.test.mjs'), lasting);
      // With this variable Node would add the files of the inner run to the outer one.
      const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
      const run = spawn(process.execPath, ['test/run.ts', join(folder, 'lasting.test.mjs')], {
        cwd: repository,
        env: environment,
        stdio: 'ignore',
      });
      const ended = once(run, 'exit');
      try {
        const seen = join(folder, 'seen.json');
        await until('the test runs', () => existsSync(seen));
        const { url, pids } = JSON.parse(await readFile(seen, 'utf8'));
        const socketFolder = String(new URL(url.replace('@/', '@localhost/')).searchParams.get('host'));
        assert.ok(existsSync(socketFolder));
        run.kill(signal);
        const [code] = await ended;
        assert.equal(code, 1);
        await assert.rejects(connectToDatabase(url), /ENOENT|ECONNREFUSED/);
        assert.ok(!existsSync(dirname(socketFolder)));
        for (const pid of pids) {
          await until('its processes end', async () => (await commandLineOf(pid)) === undefined);
        }
      } finally {
        run.kill('SIGTERM');
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
