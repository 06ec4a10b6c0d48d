import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { spoofedAddress } from '#server/platform/network/trusted-proxies.ts';
import { type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { until } from '#test/support/service/until.ts';

const notice = /TRUST_PROXY does not name/g;

describe('a proxy in front (specification section 12.2)', () => {
  let dataDir: string;
  let service: SpawnedService;

  const start = async (settings: Readonly<Record<string, string>>) => {
    service = await spawnService({ settings: { DATA_DIR: dataDir, ...settings } });
  };
  const ask = (address = '203.0.113.7') =>
    fetch(`${service.baseUrl}/healthz`, { headers: { 'x-forwarded-for': address } });

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-proxy-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  it('a proxy that TRUST_PROXY does not name is logged once, with the setting', async () => {
    await start({});
    await ask(`${spoofedAddress}, 203.0.113.7`);
    await until('the notice', () => notice.test(service.log()));
    await ask();
    await service.kill('SIGTERM');
    assert.equal(service.log().match(notice)?.length, 1);
    assert.match(service.log(), /Set TRUST_PROXY=(::ffff:)?127\.0\.0\.1\./);
  });

  it('the address that ownline doctor sends without a proxy is not logged', async () => {
    await start({});
    await ask(spoofedAddress);
    await service.kill('SIGTERM');
    assert.doesNotMatch(service.log(), notice);
  });

  it('a proxy that TRUST_PROXY names is not logged', async () => {
    await start({ TRUST_PROXY: 'loopback' });
    await ask();
    await service.kill('SIGTERM');
    assert.doesNotMatch(service.log(), /TRUST_PROXY/);
  });
});
