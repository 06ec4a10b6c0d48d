import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { nullable, strictObject, stringEnum } from '#contract/schema.ts';
import { validationError } from '#server/http/validation-error.ts';

/** Wraps an array to count the reads of its entries. */
function countingReads(values: readonly unknown[]): {
  readonly array: unknown;
  readonly reads: () => number;
} {
  let reads = 0;
  const array = new Proxy([...values], {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  return { array, reads: () => reads };
}

describe('a value that does not fit its schema (specification section 7.1)', () => {
  const said = (schema: Parameters<typeof validationError>[0], value: unknown) => {
    const { message, param } = validationError(schema, value);
    return [message, param];
  };

  it('a value is validated up to its first problem (§8/json-bounds)', () => {
    const schema = strictObject({ events: Type.Array(stringEnum(['a', 'b']), { maxItems: 50 }) });
    const wrong = countingReads(Array.from({ length: 50 }, () => 'x'));
    assert.deepEqual(said(schema, { events: wrong.array }), ['events[0] must be one of: a, b.', 'events']);
    assert.deepEqual(said(schema, { events: ['a', 5] }), ['events[1] must be a string.', 'events']);
    assert.equal(wrong.reads(), 1);
    const many = countingReads(Array.from({ length: 60_000 }, () => 'x'));
    assert.deepEqual(said(schema, { events: many.array }), ['events may have at most 50 entries.', 'events']);
    assert.equal(many.reads(), 0);
  });

  it('an invalid value is refused with the name of the field and its constraint', () => {
    const inner = Type.Object({
      id: Type.String({ maxLength: 3 }),
      kind: Type.Literal('public-key'),
      names: Type.Optional(nullable(Type.String({ minLength: 2 }))),
    });
    const schema = strictObject({
      response: inner,
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
      yes: Type.Optional(Type.Boolean()),
      month: Type.Optional(Type.String({ pattern: '^\\d{4}$', examples: ['2026'] })),
    });
    const response = { id: 'a', kind: 'public-key' };
    const table: readonly (readonly [unknown, string, string])[] = [
      [{}, 'response is required.', 'response'],
      [
        { other: 1 },
        'other is not a field of this request. Known fields: response, count, yes, month.',
        'other',
      ],
      [{ response: 5 }, 'response must be an object.', 'response'],
      [{ response: [] }, 'response must be an object.', 'response'],
      [{ response: null }, 'response must be an object.', 'response'],
      [{ response: {} }, 'response.id is required.', 'response'],
      [{ response: { ...response, id: 'abcd' } }, 'response.id may have at most 3 characters.', 'response'],
      [{ response: { ...response, kind: 'x' } }, 'response.kind must be "public-key".', 'response'],
      [{ response: { ...response, names: 5 } }, 'response.names must be a string or null.', 'response'],
      [
        { response: { ...response, names: 'a' } },
        'response.names must have at least 2 characters.',
        'response',
      ],
      [{ response, count: 0 }, 'count must be at least 1.', 'count'],
      [{ response, count: 10 }, 'count must be at most 9.', 'count'],
      [{ response, count: 1.5 }, 'count must be an integer.', 'count'],
      [{ response, yes: 'true' }, 'yes must be a boolean.', 'yes'],
      [{ response, month: 'x' }, 'month must be in the right format, such as 2026.', 'month'],
    ];
    for (const [value, message, param] of table) assert.deepEqual(said(schema, value), [message, param]);
  });
});
