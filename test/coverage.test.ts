import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { coverageProblems } from '#test/coverage/coverage-table.ts';
import { readRules } from '#test/coverage/specification-rules.ts';
import { readTests } from '#test/coverage/tagged-tests.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const rules = readRules(read('docs/specification.md'));
const tests = readTests();

describe('every rule of the specification has its tests (docs/testing.md)', () => {
  it('each rule of the covered sections has a unique name and a test, and each tag names a rule', () => {
    assert.ok(rules.length > 200);
    assert.deepEqual(coverageProblems(rules, tests), []);
  });

  it('each test that docs/testing.md quotes as the catcher of a changed rule exists', () => {
    const named = [...read('docs/testing.md').matchAll(/^(?:\|[^|]+){3}\| `([^`]+)`: ([^|]+) \|$/gm)];
    assert.ok(named.length >= 10);
    for (const [, file = '', title = ''] of named)
      assert.ok(
        tests.some((test) => test.file === file && test.title === title),
        title,
      );
  });
});
