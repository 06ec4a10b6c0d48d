import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { until } from '#test/support/service/until.ts';

describe('processes on one database, and the record of an address (specification section 10.3)', () => {
  const started: SpawnedService[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const service of started) await service.kill('SIGTERM');
    for (const close of closing) await close();
  });

  it('a setting that differs between two processes is logged once in each process, with its name and without its value', async () => {
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-settings-'));
    closing.push(
      () => database.close(),
      () => rm(dataDir, { recursive: true, force: true }),
    );
    const common = { DATABASE_URL: database.url, DATA_DIR: dataDir, BASE_URL: 'https://texts.example.com' };
    const start = async (settings: Record<string, string>) => {
      const service = await spawnService({ settings: { ...common, ...settings } });
      started.push(service);
      return service;
    };
    const first = await start({ EGRESS_ALLOW_CIDRS: '10.1.2.3/32' });
    const second = await start({});
    const differences = (service: SpawnedService) =>
      service.log().match(/[A-Z_]+ differs between this process/g);
    for (const service of [first, second]) {
      await until('it is logged', () => differences(service) !== null);
      assert.deepEqual(differences(service), ['EGRESS_ALLOW_CIDRS differs between this process']);
      assert.doesNotMatch(service.log(), /10\.1\.2\.3|0a010203/);
    }
    // The third process has the second process's settings, so it differs only from the first.
    const third = await start({});
    await until('it is logged', () => differences(third) !== null && (differences(first)?.length ?? 0) === 2);
    assert.equal(differences(third)?.length, 1);
    assert.equal(differences(second)?.length, 1);
  });

  it('a service that stops removes the record of its address, unless another service replaced it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-record-'));
    const copy = await createTestDatabase();
    const recorded = () => readFile(join(dataDir, 'address.json'), 'utf8').catch(() => 'no record');
    const start = async () => {
      const begun = await spawnService({ settings: { DATA_DIR: dataDir, DATABASE_URL: copy.url } });
      await until('its address is recorded', async () => (await recorded()).includes(begun.baseUrl));
      return begun;
    };
    const first = await start();
    const second = await start().finally(() => first.kill('SIGTERM'));
    try {
      assert.ok((await recorded()).includes(second.baseUrl));
    } finally {
      await second.kill('SIGTERM');
    }
    assert.equal(await recorded(), 'no record');
    await copy.close();
    await rm(dataDir, { recursive: true });
  });
});
