import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findTestFiles } from '#test/support/runner/find-test-files.ts';
import { groupFiles } from '#test/support/runner/group-files.ts';

const all = globSync('test/**/*.test.ts').sort();
const isSlow = (file: string) => file.endsWith('.slow.test.ts');

describe('the files of a test run (docs/testing.md)', () => {
  it('npm test selects the fast files, the slow files or all, and each file is fast or slow', () => {
    assert.deepEqual(findTestFiles([], 'all'), all);
    assert.deepEqual([...findTestFiles([], 'fast'), ...findTestFiles([], 'slow')].sort(), all);
    assert.ok(findTestFiles([], 'slow').every(isSlow) && findTestFiles([], 'slow').length > 10);
    assert.ok(!findTestFiles([], 'fast').some(isSlow));
  });

  it('a slice selects its fast files, and a file name selects that file, fast or slow', () => {
    const ofTeams = all.filter((file) => file.startsWith('test/teams/'));
    assert.deepEqual(findTestFiles(['teams'], 'all'), ofTeams);
    assert.deepEqual(
      findTestFiles(['teams'], 'fast'),
      ofTeams.filter((file) => !isSlow(file)),
    );
    const slow = all.find(isSlow) ?? '';
    assert.deepEqual(findTestFiles([slow], 'fast'), [slow]);
  });

  it('up to 64 fast files share a process, and each slow file has a separate process', () => {
    const groups = groupFiles(all, 4);
    assert.deepEqual(groups.flat().sort(), all);
    assert.ok(groups.every((group) => group.length <= 64));
    assert.ok(groups.every((group) => group.length === 1 || !group.some(isSlow)));
    const fast = groups.filter((group) => !group.some(isSlow));
    assert.deepEqual(fast.flat(), findTestFiles([], 'fast'));
    assert.ok((fast.at(0)?.length ?? 0) > 16);
    assert.ok(
      fast.slice(-4).every((group) => group.length <= 4),
      'the last processes end together',
    );
    const few = findTestFiles(['teams'], 'fast');
    assert.ok(groupFiles(few, 4).length >= 4, 'a slice keeps all processes at work');
  });

  it('a name that is neither a slice nor a file is refused', () => {
    assert.throws(() => findTestFiles(['temas'], 'fast'), /temas is no test file, and no slice/);
  });
});
