import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateClientFiles } from '#test/support/clients/generated-files.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the generated files of the clients (specification section 9)', () => {
  const service = givenService();

  it('the generated files of the clients are those of the served OpenAPI document', async () => {
    for (const { path, text } of await generateClientFiles(service.baseUrl))
      assert.ok(
        readFileSync(join(repository, path), 'utf8') === text,
        `${path} is stale: run \`npm run clients\`.`,
      );
  });
});
