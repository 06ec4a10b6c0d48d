import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type ApiDocument, breakingChanges } from '#test/support/http/api-diff.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the compatibility of v1 (specification section 9)', () => {
  let document: Record<string, unknown>;
  const service = givenService();

  before(async () => {
    document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as typeof document;
  });

  const at = (root: unknown, path: string) =>
    path.split(' ').reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], root) as Record<
      string,
      unknown
    >;
  const text = { type: 'string' };
  /** Changes of the document: the object that is changed, its new parts, and what breaks by that. */
  const changes: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[]])[] = [
    ['paths', { '/v1/more': {} }, []],
    ['paths /v1/team', { put: undefined }, ['PUT /v1/team is gone']],
    ['paths /v1/team get responses', { 401: undefined }, ['GET /v1/team answers 401: is gone']],
    ['paths /v1/team put requestBody', { required: true }, ['PUT /v1/team takes: a body is required']],
    ['paths /v1/messages get parameters 0', { required: true }, ['GET /v1/messages from: is required']],
    ['components schemas Team properties', { more: text }, []],
    ['components schemas Team properties', { name: undefined }, ['GET /v1/team answers 200 name: is gone']],
    [
      'components schemas Team properties',
      { name: { type: 'integer' } },
      ['GET /v1/team answers 200 name: was "string", is "integer"'],
    ],
    ['components schemas Team', { required: [] }, ['GET /v1/team answers 200 name: may be missing']],
  ];

  it('removed, renamed, narrowed and newly required parts are breaking changes, and added ones are not (§9/compatible-changes)', () => {
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
