import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { claim } from '#test/support/phones/test-phone.ts';
import { forgetSecretsKey } from '#test/support/processes/forget-secrets-key.ts';
import {
  firstKey,
  launchService,
  repository,
  spawnService,
} from '#test/support/processes/spawned-service.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

it('a start without secrets.key names a section of docs/operations.md, and the steps of this section restore the service (docs/operations.md)', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'ownline-key-'));
  await chmod(parent, 0o711);
  const dataDir = join(parent, 'data');
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', DEVICE_HOLD_SECONDS: '1' };
  let service = await spawnService({ settings });
  try {
    const key = await firstKey(dataDir);
    let api = new ApiClient(service.baseUrl, key);
    const verify = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const phone = await claim(api, String(verify.json.setup_url));
    await phone.poll();
    const hook = await api.post('/v1/webhooks', { url: 'https://example.com/', events: ['message.sent'] });
    const optOut = '/v1/opt-outs/%2B14155550101';
    assert.equal((await api.request('PUT', optOut)).status, 200);
    await service.kill('SIGTERM');
    await rm(join(dataDir, 'secrets.key'));

    const failed = await launchService({ settings });
    assert.equal(await failed.ended, 1);
    const [, heading = ''] = /docs\/operations\.md, "([^"]+)"/.exec(failed.log()) ?? [];
    const sections = (await readFile(join(repository, 'docs/operations.md'), 'utf8')).split(/^## /m);
    const section = sections.find((text) => text.startsWith(`${heading}\n`));
    assert.ok(heading && section, failed.log());
    assert.match(section, /--single.* ownline$/m);

    await forgetSecretsKey(dataDir);
    service = await spawnService({ settings, port: Number(new URL(service.baseUrl).port) });
    api = new ApiClient(service.baseUrl, key);
    assert.equal((await phone.poll()).action, 'idle', 'a phone goes on with its token');
    const path = `/v1/webhooks/${hook.json.id}/rotate-secret`;
    const rotated = await api.post(path, {});
    assert.equal(rotated.status, 200, rotated.text);
    assert.equal((await api.post(`${path}/finish`, {})).status, 200);
    const message = { from: '+14155550100', to: '+14155550101', content: 'Hello' };
    const refusal = await api.post('/v1/messages/send', message);
    assert.match(refusal.text, /opted out of this team/, 'a contact that is not erased stays opted out');
    assert.equal((await api.request('DELETE', optOut)).status, 200);
  } finally {
    await service.kill('SIGTERM');
    await rm(parent, { recursive: true, force: true });
  }
});

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
