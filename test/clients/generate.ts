import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateClientFiles } from '#test/support/clients/generated-files.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { withTestEngine } from '#test/support/runner/test-engine.ts';
import { startTestService } from '#test/support/service/test-service.ts';

/** `npm run clients`: writes the generated files of the clients from the document of a service. */
await withTestEngine(async ({ url }) => {
  process.env.TEST_ENGINE_URL = url;
  const service = await startTestService();
  try {
    for (const { path, text } of await generateClientFiles(service.baseUrl))
      writeFileSync(join(repository, path), text);
  } finally {
    await service.close();
  }
});
