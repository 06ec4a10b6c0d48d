import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { components } from '#contract/components.ts';
import { SendMessageRequest } from '#contract/message.ts';
import { explainedKeywords } from '#server/http/validation-error.ts';
import { type ApiDocument, breakingChanges } from '#test/support/http/api-diff.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Keywords that describe a value without constraining it. */
const telling = ['description', 'examples', 'default', 'title'];

type Schema = Readonly<Record<string, unknown>>;

describe('the reference of the API (specification sections 7.2, 8 and 9)', () => {
  let document: Record<string, unknown>;
  const service = givenService();

  before(async () => {
    document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as typeof document;
  });

  it('the reference is an OpenAPI 3.1 document that needs no key (§9/openapi)', () => {
    assert.match(String(document.openapi), /^3\.1\.\d+$/);
  });

  it('the reference lists exactly the served operations, each with its permission (§9/openapi)', () => {
    const listed = Object.entries(document.paths as Record<string, Record<string, { description: string }>>)
      .flatMap(([path, operations]) =>
        Object.entries(operations).map(
          ([method, operation]) =>
            `${method.toUpperCase()} ${path} ${/Permission: `(.+)`/.exec(operation.description)?.[1]}`,
        ),
      )
      .sort();
    const served = service.app.routes
      .filter((route) => route.audience === 'api')
      .map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')} ${route.permission}`)
      .sort();
    assert.deepEqual(listed, served);
    assert.ok(served.length >= 10);
  });

  it('every $ref of the document resolves, and every named schema is used (§9/openapi)', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '');
    for (const reference of references)
      assert.ok(field(document, reference.replaceAll('/', '.')) !== undefined, reference);
    const { schemas, responses, headers } = document.components as Record<string, object>;
    for (const [kind, named] of Object.entries({ schemas, responses, headers })) {
      for (const name of Object.keys(named ?? {}))
        assert.ok(references.includes(`components/${kind}/${name}`), `${kind} ${name} is used`);
    }
  });

  it('each request body, each response, and each item of a list in a response is a named schema (§9/openapi)', () => {
    const named = new Set<unknown>(Object.values(components));
    const isUnnamed = (schema: Schema) =>
      !named.has(schema) && Object.keys(schema.properties ?? {}).length > 0;
    const unnamed = service.app.routes.filter(({ audience, body, answers }) => {
      const shown = [...(body ? [body] : []), ...Object.values(answers)] as unknown as readonly Schema[];
      const fields = shown.flatMap(({ properties }) => Object.values(properties ?? {}) as Schema[]);
      const items = fields.flatMap((of) => (of.items ? [of.items as Schema] : []));
      return audience === 'api' && [...shown, ...items].some(isUnnamed);
    });
    assertEach(unnamed, ({ method, path }) => `${method} ${path}`, []);
  });

  it('request schemas refuse unknown fields, and response schemas allow them', () => {
    const schemas = (document.components as { schemas: Record<string, Record<string, unknown>> }).schemas;
    for (const [name, schema] of Object.entries(schemas)) {
      assert.equal(schema.additionalProperties, name.endsWith('Request') ? false : undefined, name);
    }
  });

  it('the page of the API reference runs only the scripts that its content security policy names, and loads nothing from elsewhere (§9/openapi)', async () => {
    const response = await fetch(`${service.baseUrl}/docs`);
    const page = await response.text();
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self' 'sha256-[^']+';/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
    const addresses = [...page.matchAll(/(?:src|href|url)["']?\s*[=:]\s*["']([^"']+)/g)].map(
      (match) => match[1],
    );
    assert.deepEqual(addresses.sort(), ['/', '/docs/js/scalar.js', '/v1/openapi.json']);
    const script = await fetch(`${service.baseUrl}/docs/js/scalar.js`);
    assert.equal(script.status, 200);
    assert.match(script.headers.get('content-type') ?? '', /javascript/);
    assert.equal(script.headers.get('x-content-type-options'), 'nosniff');
    assert.ok((await script.text()).length > 1_000_000);
  });
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

  it('each example of a request is valid for its schema, and the recipient of a send’s example is not its sender (§4.3/from-and-to)', () => {
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
    assertEach(unbounded, ({ where }) => where, []);
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
  const at = (root: unknown, path: string) =>
    path.split(' ').reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], root) as Record<
      string,
      unknown
    >;
  const text = { type: 'string' };
  /** Changes of the document: the changed object, its new parts, and the breaking changes that are to be found. */
  const changes: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[]])[] = [
    ['paths', { '/v1/more': {} }, []],
    ['paths /v1/team', { put: undefined }, ['PUT /v1/team is gone']],
    ['paths /v1/team get responses', { 401: undefined }, ['GET /v1/team answers 401: is gone']],
    ['paths /v1/team put requestBody', { required: true }, ['PUT /v1/team takes: a body is required']],
    ['paths /v1/messages get parameters 0', { required: true }, ['GET /v1/messages from: is required']],
    [
      'paths /v1/team put',
      { description: 'Permission: `team:read`.' },
      ['PUT /v1/team: needed team:write, needs team:read'],
    ],
    ['components schemas Team properties', { more: text }, []],
    ['components schemas Team properties', { name: undefined }, ['GET /v1/team answers 200 name: is gone']],
    [
      'components schemas Team properties',
      { name: { type: 'integer' } },
      ['GET /v1/team answers 200 name: was "string", is "integer"'],
    ],
    ['components schemas Team', { required: [] }, ['GET /v1/team answers 200 name: may be missing']],
  ];

  it('removed, renamed, narrowed and newly required parts count as breaking changes, and added parts do not (§9/compatible-changes)', () => {
    const before = document as unknown as ApiDocument;
    assert.deepEqual(breakingChanges(before, before), []);
    for (const [path, parts, broken] of changes) {
      const after = structuredClone(document);
      Object.assign(at(after, path), parts);
      const found = breakingChanges(before, JSON.parse(JSON.stringify(after)));
      for (const line of broken) assert.ok(found.includes(line), found.join('; '));
      if (broken.length === 0) assert.deepEqual(found, [], path);
    }
  });

  it('every route of clients and phones is below /v1 (§9/v1-prefix)', () => {
    const elsewhere = service.app.routes.filter(
      ({ path, audience }) => ['api', 'device'].includes(audience) && !path.startsWith('/v1/'),
    );
    assert.deepEqual(elsewhere, []);
    assert.ok(service.app.routes.some(({ audience }) => audience === 'device'));
  });

  it('only a deprecated operation is marked as deprecated in the reference and in its answers (§9/deprecation)', async () => {
    const team = await service.newTeam();
    const paths = document.paths as Record<string, Record<string, { deprecated?: boolean }>>;
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { deprecated = false }] of Object.entries(operations)) {
        const address = path.replaceAll(/\{\w+\}/g, 'none');
        const { headers } = await team.api.request(method.toUpperCase(), address);
        const says = ['deprecation', 'sunset'].map((name) => headers.has(name));
        assert.deepEqual(says, [deprecated, deprecated], `${method} ${path}`);
      }
    }
  });
});
