import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Grant, permissions } from '#contract/permissions.ts';
import { newApiKey } from '#server/api-keys/api-key.ts';
import { revokeKey } from '#server/api-keys/api-key-store.ts';
import { createKey } from '#server/api-keys/create-key.ts';
import { ApiClient, field } from '#test/support/api-client.ts';
import { plantCanary } from '#test/support/canary.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

const to = '+14155550101';

describe('API keys (specification sections 5.1 and 5.2)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;
  let messageId: string;

  before(async () => {
    service = await startTestService();
    await plantCanary(service);
    team = await service.newTeam();
    number = await connectNumber(service, team, '+14155550100');
    messageId = await team.api.send({ from: number.phoneNumber, to, content: 'Hello' });
  });
  after(() => service.close());

  /** Every operation with the permission it asks for. Bodies are wrong on purpose: nothing changes. */
  const operations = (): [string, string, Grant, unknown?][] => [
    ['POST', '/v1/messages/send', 'messages:send', {}],
    ['GET', '/v1/team', 'team:read'],
    ['PUT', '/v1/team', 'team:write', { nothing: 1 }],
    ['GET', '/v1/messages', 'messages:read'],
    ['GET', `/v1/messages/${messageId}`, 'messages:read'],
    ['POST', `/v1/messages/${messageId}/cancel`, 'messages:send', { nothing: 1 }],
    ['GET', `/v1/numbers/${number.numberId}`, 'numbers:read'],
    ['GET', '/v1/numbers', 'numbers:read'],
    ['POST', '/v1/numbers/verify', 'numbers:write', {}],
    ['PUT', `/v1/numbers/${number.numberId}`, 'numbers:write', { nothing: 1 }],
    ['POST', `/v1/numbers/${number.numberId}/reconnect`, 'numbers:write', { nothing: 1 }],
    ['DELETE', `/v1/numbers/${number.numberId}`, 'numbers:write', { nothing: 1 }],
  ];

  it('lists every operation here that the service has', () => {
    const served = service.app.routes.filter((route) => route.audience === 'api');
    const listed = operations().map(([method, path, permission]) => {
      const pattern = path.replace(/\/(num|msg)_[^/]+/, '/:id');
      return `${method} ${pattern} ${permission}`;
    });
    const missing = served
      .map((route) => `${route.method} ${route.path} ${route.permission}`)
      .filter((operation) => !listed.includes(operation));
    assert.deepEqual(missing, [], 'operations without a line in this table');
  });

  it('answers 401 for a missing, empty, mistyped, unknown or foreign-looking key, on every operation', async () => {
    const good = team.api.key;
    const swapped = `${good.slice(0, 12)}${good[13]}${good[12]}${good.slice(14)}`;
    const keys = [
      '',
      'x',
      newApiKey(),
      good.slice(0, -1),
      `${good}0`,
      good.toUpperCase(),
      good[12] === good[13] ? newApiKey() : swapped,
      good.replace('own_live_', 'own_test_'),
      `Bearer ${good}`,
      `${good}, ${good}`,
    ];
    for (const key of keys) {
      const api = new ApiClient(service.baseUrl, key);
      for (const [method, path, , body] of operations()) {
        const answer = await api.request(method, path, { body });
        assert.equal(answer.status, 401, `${key} ${method} ${path}: ${answer.text}`);
        assert.equal(field(answer.json, 'error.code'), 'unauthorized');
        assert.match(answer.headers.get('request-id') ?? '', /^req_/);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.ok(!answer.text.includes(good.slice(9)), 'an answer repeats the key');
      }
    }
  });

  it('lets each permission do what it names and nothing else', async () => {
    for (const grant of [...permissions, '*'] as Grant[]) {
      const api = await service.newKey(team.id, [grant]);
      for (const [method, path, needed, body] of operations()) {
        const allowed =
          grant === '*' || grant === needed || (grant === 'messages:send' && needed === 'messages:read');
        const answer = await api.request(method, path, { body });
        assert.equal(answer.status === 403, !allowed, `${grant}: ${method} ${path} ${answer.status}`);
        if (!allowed) {
          assert.equal(field(answer.json, 'error.code'), 'forbidden');
          assert.match(String(field(answer.json, 'error.message')), new RegExp(needed));
        } else {
          assert.ok([200, 400].includes(answer.status), `${grant}: ${method} ${path} ${answer.text}`);
        }
      }
    }
  });

  it('never asks the database about a mistyped key', async (t) => {
    const mistyped = new ApiClient(service.baseUrl, `${newApiKey().slice(0, -1)}~`);
    const wrongSum = newApiKey().replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const unknown = new ApiClient(service.baseUrl, newApiKey());
    const lock = await service.runtime.database.pool.connect();
    t.after(() => lock.release(true));
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    // While nobody can read keys, a mistyped one is answered and a well-formed one has to wait.
    const order: string[] = [];
    const waiting = unknown.get('/v1/numbers').then((answer) => order.push(`unknown ${answer.status}`));
    for (const api of [mistyped, new ApiClient(service.baseUrl, wrongSum)]) {
      order.push(`mistyped ${(await api.get('/v1/numbers')).status}`);
    }
    await lock.query('COMMIT');
    await waiting;
    assert.deepEqual(order, ['mistyped 401', 'mistyped 401', 'unknown 401']);
  });

  it('stops a revoked key within a second, on every process', async () => {
    const second = await service.startAnother();
    try {
      const { row, key } = await createKey(service.runtime.database.pool, service.runtime, {
        teamId: team.id,
        name: 'to be revoked',
        permissions: ['*'],
      });
      const clients = [new ApiClient(service.baseUrl, key), new ApiClient(second.baseUrl, key)];
      for (const api of clients) assert.equal((await api.get('/v1/numbers')).status, 200);
      assert.equal(await revokeKey(service.runtime.database.pool, row.id, service.clock.now()), true);
      service.clock.advance(1_000);
      for (const api of clients) assert.equal((await api.get('/v1/numbers')).status, 401);
      // A process that never saw the key does not believe it either.
      const third = await service.startAnother();
      assert.equal((await new ApiClient(third.baseUrl, key).get('/v1/numbers')).status, 401);
      await third.close();
    } finally {
      await second.close();
    }
  });

  it('keeps no key in the database, only its hash', async () => {
    const rows = await service.query<{ all: string }>('SELECT row_to_json(k)::text AS all FROM api_keys k');
    for (const row of rows) assert.ok(!row.all.includes(team.api.key.slice(9)));
  });
});
