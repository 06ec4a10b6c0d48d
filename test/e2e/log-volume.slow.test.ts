import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { spawnFirstService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';

interface Line {
  readonly msg: string;
  readonly route?: string;
  readonly network?: string;
  readonly loop?: string;
  readonly repeats?: number;
  readonly err?: { readonly message: string; readonly stack?: string };
}

describe('how much is logged (specification section 10.4)', () => {
  const database = given(createTestDatabase);
  const service = given(() =>
    spawnFirstService({ DATABASE_URL: database.url, LOG_LEVEL: 'info', TRUST_PROXY: 'loopback' }),
  );
  const networks = { '203.0.113.7': '203.0.113.7', '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64' };
  let lines: readonly Line[] = [];
  let minutes = 0;

  const sum = (counted: readonly Line[]) => counted.reduce((total, { repeats }) => total + (repeats ?? 1), 0);
  const refusedFrom = (network: string) =>
    lines.filter((line) => line.route === '/v1/team' && line.network === network);

  before(async () => {
    const beganMs = performance.now();
    const refuse = (address: string) =>
      fetch(`${service.baseUrl}/v1/team`, { headers: { 'x-forwarded-for': address } });
    const asked = Array.from({ length: 20 }, async () => {
      for (let n = 0; n < 100; n += 1) await refuse('203.0.113.1');
    });
    await Promise.all(asked);
    for (const address of Object.keys(networks)) for (let n = 0; n < 10; n += 1) await refuse(address);
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    assert.equal((await api.get('/v1/team')).status, 200);
    const denial = await denyConnections({ databaseUrl: database.url });
    try {
      for (let times = 0; times < 100; times += 1) assert.equal((await api.get('/v1/numbers')).status, 503);
    } finally {
      await denial.allow();
    }
    minutes = 1 + Math.floor((performance.now() - beganMs) / 60_000);
    // A service that stops logs how many lines it left out.
    await service.kill('SIGTERM');
    lines = service
      .log()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
  });

  it('2,000 refused requests make a few log lines with their counts', () => {
    const refused = refusedFrom('203.0.113.1');
    assert.equal(sum(refused), 2_000);
    assert.ok(refused.length <= 4 * minutes, `${refused.length} lines`);
    assert.ok(JSON.stringify(refused).length < 5_000 * minutes);
  });

  it('refusals of unknown callers are logged with their client network, and counted per network', () => {
    for (const network of Object.values(networks)) {
      const repeats = refusedFrom(network).map((line) => line.repeats);
      assert.equal(sum(refusedFrom(network)), 10);
      if (minutes === 1) assert.deepEqual(repeats, [undefined, undefined, undefined, 7]);
    }
  });

  it('each kind of failure without a database is logged once a minute with its stack, and repeats are counted', () => {
    const withStack = lines.filter(({ err }) => err?.stack !== undefined);
    const kinds = new Set(withStack.map(({ msg, loop, err }) => `${msg} ${loop} ${err?.message}`));
    assert.ok(withStack.length <= kinds.size * minutes, 'no two are equal');
    const failures = lines.filter(({ msg }) => msg === 'a request failed');
    assert.equal(sum(failures), 100);
    assert.ok(failures.length < 10 * minutes, `${failures.length} lines`);
  });
});
