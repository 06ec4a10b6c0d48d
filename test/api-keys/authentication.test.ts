import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { newApiKey } from '#server/api-keys/api-keys.ts';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

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
