import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateClientFiles } from '#test/support/clients/generated-files.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { OpenApi } from '../../clients/python/generate.ts';

describe('the generated files of the clients (specification section 9)', () => {
  const service = givenService();

  it('the last segment of a paginated list’s path is the name of its field, as the client for TypeScript expects', async () => {
    const response = await fetch(`${service.baseUrl}/v1/openapi.json`);
    const { paths, components } = (await response.json()) as OpenApi;
    const lists = Object.entries(paths).filter(([, { get }]) =>
      get?.parameters?.some((parameter) => parameter.name === 'cursor'),
    );
    assert.ok(lists.length > 3);
    for (const [path, { get }] of lists) {
      const schema = get?.responses['200']?.content['application/json'].schema.$ref?.split('/').at(-1) ?? '';
      const name =
        path
          .replace(/\/search$/, '')
          .split('/')
          .at(-1)
          ?.replaceAll('-', '_') ?? '';
      assert.ok(components.schemas[schema]?.properties?.[name]?.items, path);
    }
  });

  it('the generated files of the clients match the OpenAPI document that the server serves', async () => {
    for (const { path, text } of await generateClientFiles(service.baseUrl))
      assert.ok(
        readFileSync(join(repository, path), 'utf8') === text,
        `${path} is stale: run \`npm run clients\`.`,
      );
  });
});
