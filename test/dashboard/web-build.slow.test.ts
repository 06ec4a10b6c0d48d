import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WebFiles } from '#server/dashboard/web/web-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('without a build the dashboard’s files get 503 with the build command; a new build is served at once, has the same bytes in each folder, and only changed sources are built again', async (t) => {
  // A path with a space is a path like any other.
  const folder = await mkdtemp(join(tmpdir(), 'web build '));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const filter = (path: string) => !['dist', 'node_modules'].includes(basename(path));
  for (const name of ['web', 'contract'])
    await cp(join(root, name), join(folder, name), { recursive: true, filter });
  for (const name of ['package.json', 'tsconfig.json']) await cp(join(root, name), join(folder, name));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const dist = join(folder, 'web/dist');
  const built = join(dist, 'files');
  const web = new WebFiles(built);
  await assert.rejects(web.read(), {
    status: 503,
    message: /installs Ownline again, or runs `npm run build`/,
  });

  await mkdir(join(dist, 'unfinished-killed'), { recursive: true });
  const twoHoursAgo = Date.now() / 1_000 - 7_200;
  await utimes(join(dist, 'unfinished-killed'), twoHoursAgo, twoHoursAgo);
  await mkdir(join(dist, 'unfinished-at-work'));
  const build = async () => {
    await promisify(execFile)(process.execPath, [join(folder, 'web/build.ts')]);
    return { inode: (await stat(built)).ino, version: await readFile(join(built, 'version'), 'utf8') };
  };
  const first = await build();
  assert.ok((await web.read()).some(({ name }) => name === 'manifest.json'));
  // The manifest names the linked node_modules, and version hashes package-lock.json too.
  const served = async (files: WebFiles) =>
    (await files.read()).filter(({ name }) => !['manifest.json', 'version'].includes(name));
  assert.deepEqual(await served(web), await served(new WebFiles()), 'another folder gives the same bytes');
  assert.equal((await stat(built)).mode & 0o777, 0o755, 'every user may read it');
  assert.deepEqual(
    await readdir(dist),
    ['files', 'unfinished-at-work'],
    'only a killed build’s folder is gone',
  );
  assert.deepEqual(await build(), first);
  await appendFile(join(folder, 'web/style.css'), '\n.added { color: red }\n');
  assert.notEqual((await build()).version, first.version);
  await appendFile(join(folder, 'web/main.tsx'), '(');
  await assert.rejects(build(), /The dashboard could not be built/);
  await promisify(execFile)(process.execPath, [join(folder, 'web/build.ts'), '--before-start']);
});
