import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the dashboard is built even if the path of the program has a space (§12.3/dashboard-pages)', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'web build '));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const filter = (path: string) => !['dist', 'node_modules'].includes(basename(path));
  for (const name of ['web', 'contract'])
    await cp(join(root, name), join(folder, name), { recursive: true, filter });
  for (const name of ['package.json', 'tsconfig.json']) await cp(join(root, name), join(folder, name));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(folder, 'web/build.ts'), join(folder, 'built')]);
  assert.ok((await readdir(join(folder, 'built'))).includes('manifest.json'));
});
