import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { firstKey, type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

interface Line {
  readonly msg: string;
  readonly route?: string;
  readonly network?: string;
  readonly loop?: string;
  readonly repeats?: number;
  readonly err?: { readonly message: string; readonly stack?: string };
}

describe('how much is logged (specification section 10.4)', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: SpawnedService;
  let api: ApiClient;

  beforeEach(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-log-volume-'));
    service = await spawnService({
      settings: { DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'info', TRUST_PROXY: 'loopback' },
    });
    api = new ApiClient(service.baseUrl, await firstKey(dataDir));
  });
  afterEach(async () => {
    await service.kill('SIGKILL');
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Stops the service, which then logs how many lines it left out, and reads the log. */
  async function stopAndRead(): Promise<{ readonly lines: readonly Line[]; readonly bytes: number }> {
    await service.kill('SIGTERM');
    const log = service.log();
    const lines = log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
    return { lines, bytes: log.length };
  }

  /** Sends `times` requests over 20 connections, whatever the answers. */
  async function askOften(path: string, times: number): Promise<void> {
    const asked = Array.from({ length: 20 }, async () => {
      for (let n = 0; n < times / 20; n += 1) await (await fetch(`${service.baseUrl}${path}`)).arrayBuffer();
    });
    await Promise.all(asked);
  }

  it('10,000 refused requests make only a few log lines', async () => {
    const startedMs = performance.now();
    await askOften('/v1/team', 10_000);
    const minutes = 1 + Math.floor((performance.now() - startedMs) / 60_000);
    const { lines, bytes } = await stopAndRead();
    const refused = lines.filter(({ route }) => route === '/v1/team');
    const counted = refused.reduce((sum, { repeats }) => sum + (repeats ?? 1), 0);
    assert.equal(counted, 10_000);
    assert.ok(refused.length <= 4 * minutes, `${refused.length} lines`);
    assert.ok(bytes < 5_000 * minutes, `${bytes} bytes`);
  });

  it('refusals of unknown callers are logged with their client network, and counted for each network', async () => {
    for (const address of ['203.0.113.7', '2001:db8:1:2:3:4:5:6']) {
      for (let times = 0; times < 10; times += 1)
        await fetch(`${service.baseUrl}/v1/team`, { headers: { 'x-forwarded-for': address } });
    }
    const refused = (await stopAndRead()).lines.filter(({ route }) => route === '/v1/team');
    for (const expected of ['203.0.113.7', '2001:db8:1:2::/64']) {
      const lines = refused.filter(({ network }) => network === expected);
      assert.deepEqual(
        lines.map(({ repeats }) => repeats),
        [undefined, undefined, undefined, 7],
      );
    }
  });

  it('each failure without a database is logged once a minute with its stack, and repeats are counted', async () => {
    assert.equal((await api.get('/v1/team')).status, 200);
    const denial = await denyConnections({ databaseUrl: database.url });
    try {
      for (let times = 0; times < 100; times += 1) assert.equal((await api.get('/v1/numbers')).status, 503);
    } finally {
      await denial.allow();
    }
    const { lines } = await stopAndRead();
    const withStack = lines.filter(({ err }) => err?.stack !== undefined);
    const kinds = new Set(withStack.map(({ msg, loop, err }) => `${msg} ${loop} ${err?.message}`));
    assert.equal(withStack.length, kinds.size, 'no two are equal');
    const failures = lines.filter(({ msg }) => msg === 'a request failed');
    assert.equal(
      failures.reduce((sum, { repeats }) => sum + (repeats ?? 1), 0),
      100,
    );
    assert.ok(failures.length < 10, `${failures.length} lines`);
  });
});
