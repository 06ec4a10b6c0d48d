import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { newApiKey } from '#server/api-keys/api-keys.ts';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { type ApiAnswer, ApiClient } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

describe('API keys (§5.1/api-key)', () => {
  const { service, team } = givenTeam();

  it('a mistyped key is refused without a database query', async (t) => {
    const unknown = new ApiClient(service.baseUrl, newApiKey('a1b2'));
    const mistyped = [
      `${newApiKey('a1b2').slice(0, -1)}~`,
      newApiKey('a1b2').replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      newApiKey('a1b2').replace('_a1b2', '_a1b3'),
    ];
    const lock = await holdTableLock(service, 'api_keys');
    t.after(() => lock.release());
    // While the table of keys is locked, mistyped keys are answered and a well-formed key has to wait.
    const order: string[] = [];
    const waiting = unknown.get('/v1/numbers').then((answer) => order.push(`unknown ${answer.status}`));
    for (const key of mistyped)
      order.push(`mistyped ${(await new ApiClient(service.baseUrl, key).get('/v1/numbers')).status}`);
    await lock.release();
    await waiting;
    assert.deepEqual(order, [...mistyped.map(() => 'mistyped 401'), 'unknown 401']);
  });

  it('a revoked key stops working within a second, on every process', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    const { id, key } = await service.makeKey(team.id, ['*']);
    const clients = [new ApiClient(service.baseUrl, key), new ApiClient(second.baseUrl, key)];
    for (const api of clients) assert.equal((await api.get('/v1/numbers')).status, 200);
    await revokeKey(service.runtime, { keyId: id, by: operator });
    service.clock.advance(1_000);
    for (const api of clients) assert.equal((await api.get('/v1/numbers')).status, 401);
    // A process that never saw the key refuses it, too.
    const third = await service.startAnother();
    assert.equal((await new ApiClient(third.baseUrl, key).get('/v1/numbers')).status, 401);
    await third.close();
  });

  it('a key is own_live_ or own_test_, the routing tag, 32 random base62 characters, and 6 of the CRC-32 of both', () => {
    const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    for (const mode of ['live', 'test'] as const) {
      const keys = Array.from({ length: 50 }, () => newApiKey('9a0z', mode));
      for (const key of keys) {
        const form = new RegExp(`^own_${mode}_(9a0z[0-9A-Za-z]{32})([0-9A-Za-z]{6})$`);
        assert.match(key, form);
        const [, body = '', sum = ''] = form.exec(key) ?? [];
        const read = [...sum].reduce((value, digit) => value * 62 + base62.indexOf(digit), 0);
        assert.equal(read, crc32(body), key);
      }
      assert.equal(new Set(keys).size, keys.length);
    }
  });

  it('the database has only the hash of a key', async () => {
    const rows = await storedRowTexts(service, 'api_keys');
    assert.ok(rows.length > 0);
    for (const row of rows) assert.ok(!row.includes(team.api.key.slice(9)));
  });
});

const perMinute = 60;

/** Look-ups of unknown keys are in test/platform/credential-lookup.test.ts, forms of an address in client-network.test.ts. */
describe('the limit of refused API keys per client network (specification section 7.2)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' });

  const tryKey = (key: string, forwardedFor: string) =>
    new ApiClient(service.baseUrl, key).request('GET', '/v1/team', {
      headers: { 'x-forwarded-for': forwardedFor },
    });

  async function statusesOf(count: number, attempt: (n: number) => Promise<ApiAnswer>) {
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => attempt(n)));
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it(`refused keys get 401 ${perMinute} times a minute and then 429, whatever is wrong with the keys (§7.2/refused-keys)`, async () => {
    nextMinute(service.clock, 17);
    const isTest = team.api.key.replace('own_live_', 'own_test_');
    const wrong = ['', 'x', newApiKey('a1b2'), `${team.api.key}0`, isTest];
    const attempt = (n: number) => tryKey(wrong[n % wrong.length] ?? '', '203.0.113.1');
    assert.deepEqual(await statusesOf(perMinute, attempt), { 401: perMinute });
    for (const key of wrong) assert.equal((await tryKey(key, '203.0.113.1')).status, 429, key);
    const seconds = Number((await attempt(0)).headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 17, `retry-after: ${seconds}`);
    service.clock.advance(seconds * 1_000);
    assert.equal((await attempt(0)).status, 401);
  });

  it('valid keys of a limited network are served, also right after a start, and count for no limit (§7.2/refused-keys)', async () => {
    nextMinute(service.clock);
    const wrong = () => tryKey(newApiKey('a1b2'), '203.0.113.2');
    assert.deepEqual(await statusesOf(400, wrong), { 401: perMinute, 429: 400 - perMinute });
    const unseen = await service.newKey(team.id, ['*']);
    for (const { key } of [unseen, team.api])
      assert.deepEqual(await statusesOf(perMinute, () => tryKey(key, '203.0.113.2')), { 200: perMinute });
  });

  it('refused keys count for the network of the address that the proxy added (§7.2/refused-keys)', async () => {
    nextMinute(service.clock);
    const sent = (n: number) => tryKey(newApiKey('a1b2'), `198.51.100.${n}, 203.0.113.3`);
    assert.deepEqual(await statusesOf(perMinute + 5, sent), { 401: perMinute, 429: 5 });
    const ofOneNetwork = (n: number) =>
      tryKey(newApiKey('a1b2'), `[2001:db8:7:9::${n.toString(16)}]:${n + 1}`);
    assert.deepEqual(await statusesOf(perMinute + 5, ofOneNetwork), { 401: perMinute, 429: 5 });
    assert.equal((await tryKey(newApiKey('a1b2'), '203.0.113.4')).status, 401, 'another network');
  });
});
