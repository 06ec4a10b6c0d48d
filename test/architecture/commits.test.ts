import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '#test/support/architecture/sources.ts';

interface Commit {
  readonly title: string;
  readonly body: string;
  /** Lines added and removed, without the lock file, generated clients and documents. */
  readonly changedLines: number;
}

/** The commit after which the rules hold. */
const base = '71b7357e236b32238749d678eab61a870dba9c38';
/** How many commits are read if the history does not have `base`, as in a shallow clone. */
const latestMax = 20;
const titleMaxCharacters = 72;
const linesMaxWithoutBody = 30;

const uncounted =
  /^docs\/|\.md$|package-lock\.json$|^clients\/(?:openapi\.json|typescript\/src\/openapi\.ts|python\/src\/ownline\/api\.py)$/;

/** The rules for commits of CONTRIBUTING.md that a commit breaks. Reverts have the title that git gives them. */
function brokenRules({ title, body, changedLines }: Commit): string[] {
  if (/^(?:Revert|Reapply) "/.test(title)) return [];
  return [
    ...(/^[a-z\d][a-z\d ,./_-]*: [a-z][a-z-]* \S/.test(title) ? [] : ['its title is not `area: verb …`']),
    ...(title.length > titleMaxCharacters
      ? [`its title has more than ${titleMaxCharacters} characters`]
      : []),
    ...(title.endsWith('.') ? ['its title ends with a full stop'] : []),
    ...(changedLines > linesMaxWithoutBody && body === ''
      ? [`it changes ${changedLines} lines, and no body says why`]
      : []),
  ];
}

/** Runs git, also if another user owns the clone, as in CI. */
function git(...args: string[]): string {
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 64 * 1024 * 1024,
  });
}

function isBaseKnown(): boolean {
  try {
    git('merge-base', base, 'HEAD');
    return true;
  } catch {
    return false;
  }
}

/** Reads the commits after `base`, without merges, and without the parentless commit at which a shallow clone ends. */
function readCommits(): readonly (Commit & { readonly id: string })[] {
  const range = isBaseKnown() ? [`${base}..HEAD`] : [`--max-count=${latestMax}`, 'HEAD'];
  const log = git('log', '--no-merges', '--numstat', '--format=%x00%h%x1f%P%x1f%s%x1f%b%x1f', ...range);
  return log
    .split('\0')
    .map((entry) => entry.split('\x1f'))
    .filter(([, parents]) => parents)
    .map(([id = '', , title = '', body = '', files = '']) => ({
      id,
      title,
      body: body.trim(),
      changedLines: [...files.matchAll(/^(\d+)\t(\d+)\t(.+)$/gm)]
        .filter(([, , , path = '']) => !uncounted.test(path))
        .reduce((sum, [, added, removed]) => sum + Number(added) + Number(removed), 0),
    }));
}

describe('commits are written as CONTRIBUTING.md says', () => {
  it('a title is `area: verb …` in 72 characters, and more than 30 changed lines have a body', () => {
    const cases: readonly [title: string, body: string, changedLines: number, broken: number][] = [
      ['messages: refuse a send without a number', '', 30, 0],
      ['browser tests: read the position two frames later', 'A frame may be late.', 31, 0],
      ['Revert "messages: refuse a send"', 'This reverts commit 1234567.', 90, 0],
      ['messages: refuse a send without a number', '', 31, 1],
      ['refuse a send without a number', '', 1, 1],
      ['Messages: Refused a send', '', 1, 1],
      ['messages: refuse', '', 1, 1],
      ['messages: refuse a send.', '', 1, 1],
      [`messages: ${'refuse a send '.repeat(5)}`, '', 1, 1],
    ];
    for (const [title, body, changedLines, broken] of cases)
      assert.equal(brokenRules({ title, body, changedLines }).length, broken, title);
  });

  it('each commit after the base follows the rules for titles and bodies', (test) => {
    if (!existsSync(join(root, '.git'))) return test.skip('there is no .git, so no commit can be read');
    assert.deepEqual(
      readCommits().flatMap((commit) =>
        brokenRules(commit).map((rule) => `${commit.id} "${commit.title}": ${rule}`),
      ),
      [],
      'mend the latest commit with git commit --amend, an older one with git rebase -i',
    );
  });
});
