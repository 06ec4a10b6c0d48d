import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { isFieldOf } from '#test/support/http/is-field-of.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the reference of the API (specification section 9)', () => {
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
    for (const reference of references) assert.ok(isFieldOf(document, reference.split('/')), reference);
    const { schemas, responses, headers } = document.components as Record<string, object>;
    for (const [kind, named] of Object.entries({ schemas, responses, headers })) {
      for (const name of Object.keys(named ?? {}))
        assert.ok(references.includes(`components/${kind}/${name}`), `${kind} ${name} is used`);
    }
  });

  it('schemas of requests refuse unknown fields, and schemas of answers allow unknown fields', () => {
    const schemas = (document.components as { schemas: Record<string, Record<string, unknown>> }).schemas;
    for (const [name, schema] of Object.entries(schemas)) {
      assert.equal(schema.additionalProperties, name.endsWith('Request') ? false : undefined, name);
    }
  });

  it('the page of the reference runs only the scripts that its policy names, and loads nothing from elsewhere (§9/openapi)', async () => {
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
    assert.ok((await script.text()).length > 1_000_000);
  });
});
