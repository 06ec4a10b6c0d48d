import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import pg from 'pg';
import { commandLineOf } from '#server/database/engine/engine-process.ts';
import { repository } from '#test/support/spawned-service.ts';
import { until } from '#test/support/until.ts';

/** A test that lasts until it is ended, beside a process of its own. */
const lasting = `
  import { spawn } from 'node:child_process';
  import { renameSync, writeFileSync } from 'node:fs';
  import { test } from 'node:test';
  test('lasts', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const seen = { url: process.env.TEST_ENGINE_URL, pids: [process.pid, child.pid] };
    writeFileSync(import.meta.dirname + '/seen.new', JSON.stringify(seen));
    renameSync(import.meta.dirname + '/seen.new', import.meta.dirname + '/seen.json');
    await new Promise((resolve) => child.on('exit', resolve));
  });
`;

describe('npm test (docs/testing.md)', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`ended by ${signal}, it stops its PostgreSQL, deletes its folder and leaves no process behind`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ownline-run-'));
      await writeFile(join(folder, 'lasting.test.mjs'), lasting);
      // A run inside of a run: Node would take its files for those of the outer one.
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
        await assert.rejects(new pg.Client({ connectionString: url }).connect(), /ENOENT|ECONNREFUSED/);
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
