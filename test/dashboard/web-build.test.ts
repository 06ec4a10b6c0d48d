import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { WebBuild } from '#server/dashboard/web/web-build.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';

/** Source of a build that writes one file and counts its runs. */
const succeeds = `
import { appendFileSync, writeFileSync } from 'node:fs';
appendFileSync(new URL('../runs', import.meta.url), 'x');
writeFileSync(process.argv[2] + '/main.js', 'built');
`;
const fails = `
import { appendFileSync } from 'node:fs';
appendFileSync(new URL('../runs', import.meta.url), 'x');
process.exitCode = 1;
`;

describe('the build of the dashboard', () => {
  let folder: string;
  let program: string;
  let clock: Clock;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'web build-'));
    program = join(folder, 'a program');
    clock = new Clock();
    await mkdir(join(program, 'web'), { recursive: true });
    await writeFile(join(program, 'web/build.ts'), succeeds);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const newBuild = () =>
    new WebBuild(
      { logger: createLogger('silent'), clock },
      join(folder, 'data'),
      new AbortController().signal,
      program,
    );
  const countRuns = async () => (await stat(join(program, 'runs')).catch(() => ({ size: 0 }))).size;
  const listBuilds = (parent: string) => readdir(parent).catch((): string[] => []);

  it('the dashboard is built once, and every user of the machine may read the build', async () => {
    const files = await newBuild().files();
    assert.deepEqual(
      files.map(({ name, bytes }) => [name, bytes.toString()]),
      [['main.js', 'built']],
    );
    await newBuild().files();
    assert.equal(await countRuns(), 1);
    const [version = ''] = await listBuilds(join(program, 'web/dist'));
    assert.equal((await stat(join(program, 'web/dist', version))).mode & 0o777, 0o755);
  });

  it('a build that the service can’t read is repeated in DATA_DIR', {
    skip: process.getuid?.() === 0 && 'root may read everything',
  }, async () => {
    await newBuild().files();
    const [version = ''] = await listBuilds(join(program, 'web/dist'));
    await chmod(join(program, 'web/dist', version), 0);
    assert.equal((await newBuild().files()).length, 1);
    assert.deepEqual(await listBuilds(join(folder, 'data/web')), [version]);
    await chmod(join(program, 'web/dist', version), 0o755);
  });

  it('a failed build is repeated only after a pause, which doubles', async () => {
    await writeFile(join(program, 'web/build.ts'), fails);
    const build = newBuild();
    const ask = () => assert.rejects(build.files(), { status: 503 });
    await ask();
    await ask();
    assert.equal(await countRuns(), 1);
    clock.advance(5_000);
    await ask();
    clock.advance(5_000);
    await ask();
    assert.equal(await countRuns(), 2, 'the second pause is longer');
    clock.advance(5_000);
    await writeFile(join(program, 'web/build.ts'), succeeds);
    assert.equal((await build.files()).length, 1);
  });

  it('a request for a file starts no build', async () => {
    const build = newBuild();
    assert.equal(await build.filesAtHand(), undefined);
    assert.equal(await countRuns(), 0);
    const building = build.files();
    assert.deepEqual(await build.filesAtHand(), await building);
  });

  it('a build removes builds of other versions and files that killed builds left', async () => {
    const dist = join(program, 'web/dist');
    for (const name of ['0123456789abcdef', 'unfinished-old', 'unfinished-new'])
      await mkdir(join(dist, name), { recursive: true });
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(dist, 'unfinished-old'), hourAgo, hourAgo);
    await newBuild().files();
    const left = await listBuilds(dist);
    assert.equal(left.length, 2, left.join());
    assert.ok(left.includes('unfinished-new'));
  });
});
