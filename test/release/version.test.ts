import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readNotes } from '#release/notes.ts';
import { readManifest } from '#release/package.ts';
import { repository } from '#release/run.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

it('manifests, documents, the compose file and the changelog have the version of package.json', async () => {
  const { version } = await readManifest();
  const pythonVersion = version.replace('-rc.', 'rc');
  assertNone(
    ['web/package.json', 'clients/typescript/package.json'],
    (path) => JSON.parse(read(path)).version !== version,
  );
  assert.ok(read('clients/python/pyproject.toml').includes(`\nversion = "${pythonVersion}"\n`));
  assert.notEqual(await readNotes(version), '');
  await assert.rejects(readNotes('0.0.1'), /CHANGELOG\.md has no notes for 0\.0\.1/);
  const files = globSync(['*.md', 'docs/*.md', 'deploy/**/*.yaml', 'clients/*/README.md'], {
    cwd: repository,
  });
  const named = files.flatMap((path) =>
    [...read(path).matchAll(/ownline(?:[_-]client)?[-:](\d+\.\d+\.\d+(?:-?rc\.?\d+)?)/g)].map(
      ([text, found]) => ({ path, text, found }),
    ),
  );
  assert.ok(named.length > 6);
  assert.deepEqual(
    named.filter(({ found }) => found !== version && found !== pythonVersion),
    [],
  );
});
