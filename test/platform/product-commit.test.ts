import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readCommit } from '#server/platform/process/product-version.ts';
import { givenFolder } from '#test/support/service/given.ts';

describe('the commit of a clone, read from the files of git', () => {
  const commit = 'b0a1'.repeat(10);
  const root = givenFolder('ownline-commit-');

  /** Makes the folder of a clone with these files below `.git`. */
  const cloneOf = async (name: string, files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, name, '.git', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return join(root, name);
  };

  it('the commit is found for a branch with a file, for a packed branch, and for a checked-out commit', async () => {
    const head = 'ref: refs/heads/main\n';
    const branch = await cloneOf('branch', { HEAD: head, 'refs/heads/main': `${commit}\n` });
    const packed = await cloneOf('packed', {
      HEAD: head,
      'packed-refs': `# pack-refs with: peeled\n${'c'.repeat(40)} refs/heads/other\n${commit} refs/heads/main\n`,
    });
    const detached = await cloneOf('detached', { HEAD: `${commit}\n` });
    for (const folder of [branch, packed, detached]) assert.equal(readCommit(folder), 'b0a1b0a1', folder);
  });

  it('the commit is undefined outside of a clone, and for a branch without a commit', async () => {
    assert.equal(readCommit(root), undefined);
    assert.equal(readCommit(await cloneOf('empty', { HEAD: 'ref: refs/heads/main\n' })), undefined);
  });
});
