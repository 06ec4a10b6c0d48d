import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { firstKey, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

it('after DATA_DIR was deleted, refusals keep the error envelope and contain no path (specification section 10.4)', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'ownline-lost-'));
  await chmod(parent, 0o711);
  const dataDir = join(parent, 'data');
  const service = await spawnService({ settings: { DATA_DIR: dataDir, LOG_LEVEL: 'fatal' } });
  try {
    const api = new ApiClient(service.baseUrl, await firstKey(dataDir));
    assert.equal((await api.get('/v1/team')).status, 200);
    // PostgreSQL may write a file into a directory that is being removed.
    await rm(parent, { recursive: true, force: true, maxRetries: 10 });
    const answers = await until('requests fail', async () => {
      const all = [await api.get('/readyz'), await api.get('/v1/messages')];
      return all.every(({ status }) => status >= 500) && all;
    });
    for (const answer of answers) {
      assert.equal(field(answer.json, 'error.code'), 'internal_error', answer.text);
      assert.doesNotMatch(answer.text, /ENOENT|ownline-lost/);
      assert.equal(answer.headers.get('retry-after'), '2');
    }
  } finally {
    await service.kill('SIGTERM');
    await rm(parent, { recursive: true, force: true });
  }
});
