import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { coverage } from '#test/coverage/coverage.ts';
import { coverageProblems, withTable } from '#test/coverage/coverage-table.ts';
import { readRows } from '#test/coverage/specification-rows.ts';
import { readTitles } from '#test/coverage/test-titles.ts';
import { repository } from '#test/support/service/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const rows = readRows(read('docs/specification.md'));
const titles = readTitles();

describe('every rule of the specification has its tests (docs/testing.md)', () => {
  it('each row of sections 2 to 9 and 12 names tests that exist, and no row that is gone is named', () => {
    assert.ok(rows.length > 100);
    assert.deepEqual(coverageProblems(rows, coverage, titles), []);
  });

  it('a row without a test, a test that is gone and a row that is gone are each found', () => {
    const [first, second] = rows;
    assert.ok(first && second);
    const wrong = {
      [first.key]: {},
      [second.key]: { 'coverage.test.ts': ['a title that nobody gave'] },
      '1 gone': { 'coverage.test.ts': ['the table in docs/testing.md is the one that is written from them'] },
    };
    assert.deepEqual(coverageProblems([first, second], wrong, titles), [
      `${first.key}: no test`,
      '1 gone: no such row in docs/specification.md',
      `${second.key}: test/coverage.test.ts has no test "a title that nobody gave"`,
    ]);
  });

  it('the table in docs/testing.md is the one that is written from them', () => {
    const document = read('docs/testing.md');
    const isCurrent = withTable(document, rows, coverage) === document;
    assert.ok(isCurrent, 'The table in docs/testing.md is stale: run `npm run docs` and commit it.');
  });

  it('the tests that failed when a rule was changed are still there', () => {
    const named = [...read('docs/testing.md').matchAll(/^(?:\|[^|]+){3}\| `([^`]+)`: ([^|]+) \|$/gm)];
    assert.ok(named.length >= 10);
    for (const [, file = '', title = ''] of named) assert.ok(titles.get(file)?.has(title), title);
  });
});
