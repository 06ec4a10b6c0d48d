import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { readPromises } from '#test/support/http/api-promises.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the compatibility of v1 (specification section 9)', () => {
  let document: Record<string, unknown>;
  const service = givenService();

  before(async () => {
    document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as typeof document;
  });

  const file = 'test/http/v1-promises.txt';
  const promised = () => readFileSync(join(repository, file), 'utf8').trim().split('\n');

  it('everything that v1 ever had keeps its name and type, and nothing more becomes required (§9/compatible-changes)', () => {
    const known = promised();
    const served = readPromises(document);
    assert.deepEqual(
      known.filter((line) => !served.includes(line)),
      [],
    );
    const isOld = (line: string) => known.includes(line.split(' takes ')[0] ?? '');
    const needed = served.filter((line) => line.endsWith(', required') && isOld(line));
    assert.deepEqual(
      needed.filter((line) => !known.includes(line)),
      [],
    );
  });

  it('every promise of v1 is in the list of promises (§9/compatible-changes)', () => {
    const known = new Set(promised());
    const added = readPromises(document).filter((line) => !known.has(line));
    assert.deepEqual(added, [], `Add these lines to ${file}; they can never be taken back.`);
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
