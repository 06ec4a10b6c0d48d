import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findTestFiles } from '#test/support/runner/find-test-files.ts';

const all = globSync('test/**/*.test.ts').sort();
const isSlow = (file: string) => file.endsWith('.slow.test.ts');

describe('the files of a test run (docs/testing.md)', () => {
  it('are the fast ones, the slow ones or all; no file is in neither', () => {
    assert.deepEqual(findTestFiles([], 'all'), all);
    assert.deepEqual([...findTestFiles([], 'fast'), ...findTestFiles([], 'slow')].sort(), all);
    assert.ok(findTestFiles([], 'slow').every(isSlow) && findTestFiles([], 'slow').length > 10);
    assert.ok(!findTestFiles([], 'fast').some(isSlow));
  });

  it('are those of a slice, or a file whatever its kind', () => {
    const ofTeams = all.filter((file) => file.startsWith('test/teams/'));
    assert.deepEqual(findTestFiles(['teams'], 'all'), ofTeams);
    assert.deepEqual(
      findTestFiles(['teams'], 'fast'),
      ofTeams.filter((file) => !isSlow(file)),
    );
    const slow = all.find(isSlow) ?? '';
    assert.deepEqual(findTestFiles([slow], 'fast'), [slow]);
  });

  it('a name that is no slice and no file is refused', () => {
    assert.throws(() => findTestFiles(['temas'], 'fast'), /temas is no test file, and no slice/);
  });
});
