import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkJsonBounds } from '#server/http/read-json-body.ts';
import { AppError } from '#server/platform/app-error.ts';

const padding = ' '.repeat(2_048);
const check = (json: string) => checkJsonBounds(Buffer.from(`${json}${padding}`));
const refused = (json: string): AppError => {
  try {
    check(json);
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `was not refused: ${json.slice(0, 100)}` });
};
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('JSON is bounded before it is parsed (specification section 8)', () => {
  it('bodies within 32 levels and 1,000 values are accepted (§8/json-bounds)', () => {
    const bodies = [
      nested(32),
      `{"a":${nested(31)}}`,
      `[${'0,'.repeat(998)}0]`,
      `{${Array.from({ length: 499 }, (_, n) => `"f${n}":${n}`).join()}}`,
      // Brackets, colons and commas within a string do not count.
      JSON.stringify({ content: '[{:,'.repeat(5_000) }),
      JSON.stringify({ content: '\\"[{:,'.repeat(5_000) }),
      `{"content":"${'\\"[,'.repeat(2_000)}"}`,
      `{"content":"${'\\\\'.repeat(2_000)}","to":"x"}`,
    ];
    for (const body of bodies) check(body);
  });

  it('bodies beyond 32 levels or 1,000 values are refused with the name of the outermost field (§8/json-bounds)', () => {
    const table: readonly (readonly [string, string | undefined])[] = [
      [nested(33), undefined],
      ['['.repeat(3_000), undefined],
      [`{"a":1,"content":${nested(33)}}`, 'content'],
      [`{"con\\u0074ent":${nested(33)}}`, 'content'],
      [`{"":${nested(33)}}`, ''],
      [`{"a":{"b":"c","d":${nested(33)}}}`, 'a'],
      [`[${'0,'.repeat(1_000)}0]`, undefined],
      [`{"events":[${'"x",'.repeat(1_000)}"x"]}`, 'events'],
      [`{${Array.from({ length: 600 }, (_, n) => `"f${n}":${n}`).join()}}`, undefined],
      [`{"content":"${'\\\\'.repeat(2_000)}","to":${nested(40)}}`, 'to'],
    ];
    for (const [body, param] of table) {
      const { status, param: found, message } = refused(body);
      assert.deepEqual([status, found], [400, param], message);
    }
  });

  it('the bounds are not checked for short bodies, and invalid JSON is left to the parser', () => {
    for (const broken of ['', '"', '"\\', ']]]]', '{"a":', ':::', '\u0000']) check(broken);
    checkJsonBounds(Buffer.from(nested(1_000)));
  });
});
