import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { coverageProblems } from '#test/coverage/coverage-table.ts';
import { readRules } from '#test/coverage/specification-rules.ts';
import { parseTests, readTests } from '#test/coverage/tagged-tests.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const rules = readRules(read('docs/specification.md'));
const tests = readTests();

describe('every rule of the specification has its tests (docs/testing.md)', () => {
  it('each rule of the covered sections has a unique name and a test, and each tag names a rule', () => {
    assert.ok(rules.length > 200);
    assert.deepEqual(coverageProblems(rules, tests), []);
  });

  it('the check finds a rule without name or test, a repeated name, and a tag without a rule', () => {
    const read = readRules('## 2 One\n\n- a <!-- a -->\n- b <!-- b -->\n- c <!-- a -->\n- d\n');
    const file = 'some.test.ts';
    const held = [
      { file, title: 'one', tags: ['§2/a', '§2/gone'] },
      { file, title: 'two (§2/b) and more', tags: [] },
    ];
    assert.deepEqual(coverageProblems(read, held), [
      '§2/ has no name: d',
      '§2/a: two rules have this name',
      '§2/b has no test',
      'test/some.test.ts: "one" names §2/gone, which no rule has',
      'test/some.test.ts: "two (§2/b) and more" has § outside the list of tags at its end',
    ]);
  });

  it('rows, bullets and paragraphs of sections 2 to 9, 10.10, 11.8, 11.11 and 12 are rules, unless they are planned', () => {
    const table = '| a | |\n|---|---|\n| `x` | y <!-- row --> |\n| z *(planned)* | |\n';
    const document = `## 1 None\n\nNo rule.\n\n## 2 All\n\n### 2.1 Some\n\nOne\nparagraph. <!-- text -->\n\n- One\n  bullet.\n  <!-- bullet -->\n- **Two.** <!-- two -->\n\n${table}\n## 12 Last\n\nEnd. <!-- end -->\n`;
    assert.deepEqual(readRules(document), [
      { tag: '§2.1/text', text: 'One paragraph.' },
      { tag: '§2.1/bullet', text: 'One bullet.' },
      { tag: '§2.1/two', text: 'Two.' },
      { tag: '§2.1/row', text: 'x · y' },
      { tag: '§12/end', text: 'End.' },
    ]);
  });

  it('a test has exactly its own tags and the tags of the suites around it', () => {
    const source = [
      "describe('an outer suite (§2/a)', () => {",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a test.
      '  it(`a test of ${word} (§2/b, §2/c)`, () => {});',
      "  describe('an inner suite (§2/d)', () => {",
      "    it('a test of an inner suite', () => {});",
      '  });',
      "  it('a test after an inner suite (section 2)', () => {});",
      '});',
      'for (const word of words) {',
      "  it('a test without a suite', () => {});",
      '}',
    ].join('\n');
    const found = parseTests('some.test.ts', source).map(({ title, tags }) => [title, ...tags]);
    assert.deepEqual(found, [
      ['a test of …', '§2/a', '§2/b', '§2/c'],
      ['a test of an inner suite', '§2/a', '§2/d'],
      ['a test after an inner suite (section 2)', '§2/a'],
      ['a test without a suite'],
    ]);
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
