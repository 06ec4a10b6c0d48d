import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { readCommit } from '#server/platform/process/product-version.ts';
import { givenFolder } from '#test/support/service/given.ts';

const commit = 'b0a1'.repeat(10);
const head = 'ref: refs/heads/main\n';
const packed = `# pack-refs with: peeled\n${'c'.repeat(40)} refs/heads/other\n${commit} refs/heads/main\n`;

/** The files of git in a clone, by its state, and the commit that is read from them. */
const clones: Readonly<Record<string, readonly [Readonly<Record<string, string>>, string | undefined]>> = {
  branch: [{ HEAD: head, 'refs/heads/main': `${commit}\n` }, 'b0a1b0a1'],
  packed: [{ HEAD: head, 'packed-refs': packed }, 'b0a1b0a1'],
  detached: [{ HEAD: `${commit}\n` }, 'b0a1b0a1'],
  empty: [{ HEAD: head }, undefined],
  none: [{}, undefined],
};

const root = givenFolder('ownline-commit-');

for (const [name, [files, wanted]] of Object.entries(clones))
  it(`the commit of a clone is read from the files of git: ${name}`, async () => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, name, '.git', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    assert.equal(readCommit(join(root, name)), wanted);
  });
