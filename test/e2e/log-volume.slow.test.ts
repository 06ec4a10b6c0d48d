import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ApiClient } from '#test/support/service/api-client.ts';
import { denyConnections } from '#test/support/service/lost-connections.ts';
import { firstKey, type SpawnedService, spawnService } from '#test/support/service/spawned-service.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/service/test-database.ts';

interface Line {
  readonly msg: string;
  readonly route?: string;
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
      settings: { DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'info' },
    });
    api = new ApiClient(service.baseUrl, await firstKey(dataDir));
  });
  afterEach(async () => {
    await service.kill('SIGKILL');
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The log until the service stopped: a stop writes the lines that were only counted. */
  async function stopAndRead(): Promise<{ readonly lines: readonly Line[]; readonly bytes: number }> {
    await service.kill('SIGTERM');
    const log = service.log();
    const lines = log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
    return { lines, bytes: log.length };
  }

  /** Requests one after the other on few connections; what is answered to them does not matter. */
  async function askOften(path: string, times: number): Promise<void> {
    const asked = Array.from({ length: 20 }, async () => {
      for (let n = 0; n < times / 20; n += 1) await (await fetch(`${service.baseUrl}${path}`)).arrayBuffer();
    });
    await Promise.all(asked);
  }

  it('10,000 refused requests make a few lines, and one that counts the others', async () => {
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

  it('while the database is away each failure is logged once a minute with its stack, and the others are counted', async () => {
    assert.equal((await api.get('/v1/team')).status, 200);
    const denial = await denyConnections({ databaseUrl: database.url });
    try {
      for (let times = 0; times < 100; times += 1) assert.equal((await api.get('/v1/numbers')).status, 500);
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
