import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { SendMessageRequest } from '#contract/message.ts';
import { explainedKeywords } from '#server/platform/http/validation-error.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Keywords that describe a value without constraining it. */
const telling = ['description', 'examples', 'default', 'title'];

type Schema = Readonly<Record<string, unknown>>;

describe('JSON schemas of requests (specification section 8)', () => {
  const service = givenService();

  /** Every schema in every body and query, with its path. */
  function* schemas(): Generator<{ readonly where: string; readonly schema: Schema }> {
    for (const { method, path, body, query } of service.app.routes) {
      for (const schema of [body, query]) {
        if (schema) yield* within(`${method} ${path}`, schema as Schema);
      }
    }
  }
  function* within(
    where: string,
    schema: Schema,
  ): Generator<{ readonly where: string; readonly schema: Schema }> {
    yield { where, schema };
    const parts = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
    for (const [name, part] of parts) yield* within(`${where} ${name}`, part);
    for (const part of (schema.anyOf ?? []) as readonly Schema[]) yield* within(where, part);
    if (schema.items) yield* within(`${where} []`, schema.items as Schema);
  }

  it('each example of a request’s fields is accepted by its schema, and a send’s recipient is not its sender (§4.3/from-and-to)', () => {
    for (const { where, schema } of schemas()) {
      for (const example of (schema.examples ?? []) as readonly unknown[])
        assert.ok(Compile(schema as TSchema).Check(example), `${where}: ${JSON.stringify(example)}`);
    }
    const { to, from } = SendMessageRequest.properties as unknown as Readonly<Record<'to' | 'from', Schema>>;
    assert.notDeepEqual(to.examples, from.examples);
  });

  it('request schemas bound every array by maxItems, and every string by a length, a pattern or its values (§8/json-bounds)', () => {
    const bounds: Readonly<Record<string, readonly string[]>> = {
      array: ['maxItems'],
      string: ['maxLength', 'pattern', 'enum', 'const'],
    };
    const unbounded = [...schemas()].filter(({ schema }) => {
      const needed = bounds[String(schema.type)];
      return needed && !needed.some((keyword) => keyword in schema);
    });
    assert.deepEqual(
      unbounded.map(({ where }) => where),
      [],
    );
    const patterns = [...schemas()].flatMap(({ schema }) => schema.pattern ?? []);
    assert.ok(patterns.length > 5);
    for (const pattern of patterns) assert.match(String(pattern), /^\^[^*]*\$$/, 'has two ends and no *');
  });

  it('request schemas use only keywords that have an error text', () => {
    const known = new Set<string>([...explainedKeywords, ...telling]);
    const unknown = [...schemas()].flatMap(({ where, schema }) =>
      Object.keys(schema).flatMap((keyword) => (known.has(keyword) ? [] : [`${where}: ${keyword}`])),
    );
    assert.deepEqual(unknown, []);
  });
});
