import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readRules } from '#test/coverage/specification-rules.ts';
import { readTests } from '#test/coverage/tagged-tests.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const rules = readRules();
const tests = readTests();

describe('every rule of the specification has its tests (docs/testing.md)', () => {
  it('each rule of the covered sections has a unique name and a test, and each tag names a rule', () => {
    assert.ok(rules.length > 200);
    const tags = rules.map(({ tag }) => tag);
    const held = new Set(tests.flatMap((test) => test.tags));
    const problems = [
      ...rules.filter(({ tag }) => tag.endsWith('/')).map(({ tag, text }) => `${tag} has no name: ${text}`),
      ...tags
        .filter((tag, index) => tags.indexOf(tag) < index)
        .map((tag) => `${tag}: two rules have this name`),
      ...tags.filter((tag) => !tag.endsWith('/') && !held.has(tag)).map((tag) => `${tag} has no test`),
      ...tests.flatMap(({ file, title, tags: named }) =>
        named
          .filter((tag) => !tags.includes(tag))
          .map((tag) => `test/${file}: "${title}" names ${tag}, which no rule has`),
      ),
      ...tests
        .filter(({ title }) => title.includes('§'))
        .map(({ file, title }) => `test/${file}: "${title}" has § outside the list of tags at its end`),
    ];
    assert.deepEqual(problems, []);
  });

  it('each test that test/coverage/changed-rules.txt quotes as the catcher of a changed rule exists', () => {
    const named = [...read('test/coverage/changed-rules.txt').matchAll(/^(?:[^|]+ \| ){3}(\S+): (.+)$/gm)];
    assert.ok(named.length >= 25);
    for (const [, file = '', title = ''] of named)
      assert.ok(
        tests.some((test) => test.file === file && test.title === title),
        title,
      );
  });
});
