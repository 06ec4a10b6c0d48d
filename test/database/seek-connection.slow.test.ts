import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { explainConnectionLimit } from '#server/database/connection-limit.ts';
import { Database, isDatabaseAway, readOnlyCode, throwNothingStored } from '#server/database/database.ts';
import { NotificationListener } from '#server/database/listener.ts';
import { allStatements } from '#server/database/query.ts';
import { NoConnectionError } from '#server/database/seek-connection.ts';
import { createSendBatcher } from '#server/messages/send-message.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { publicId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { cutBlocked, untilBlocked } from '#test/support/database/blocked-statements.ts';
import { limitConnections } from '#test/support/database/lost-connections.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { sendRow } from '#test/support/messages/accept-all.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber, DeviceWire } from '#test/support/phones/test-phone.ts';
import { startFreezingProxy } from '#test/support/proxies/freezing-proxy.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

type FreezingProxy = Awaited<ReturnType<typeof startFreezingProxy>>;

const logger = createLogger('silent');

describe('connections that are sought while the database is away (specification section 7.2)', () => {
  const test = given(createTestDatabase);
  const proxy = given(() => startFreezingProxy(test.url));
  const database = given(() => new Database({ databaseUrl: proxy.url, logger }));

  /** Ends all connections, and refuses new ones. */
  async function refuse(): Promise<void> {
    proxy.refuse();
    const pools = [database.hot, database.batches, database.pool];
    await until('the pools know', () => pools.every(({ totalCount }) => totalCount === 0));
  }

  it('queries and transactions wait while each new connection ends at once, and then succeed (§7.2/unavailable)', async () => {
    await database.hot.query('SELECT');
    await refuse();
    const before = proxy.refused();
    const waiting = Promise.all([
      database.hot.query('SELECT'),
      database.transaction((trx) => trx.query('SELECT')),
      database.batches.query('SELECT'),
    ]);
    await until('each has tried several times', () => proxy.refused() >= before + 9);
    proxy.accept();
    assert.deepEqual(
      (await waiting).map(({ rowCount }) => rowCount),
      [1, 1, 1],
    );
  });

  it('after 5 s without a connection a query fails with 503 and retry-after (§7.2/unavailable)', async () => {
    await refuse();
    const startedMs = performance.now();
    const failing = [database.pool.query('SELECT'), database.transaction((trx) => trx.query('SELECT'))];
    const results = await Promise.allSettled(failing);
    const tookMs = performance.now() - startedMs;
    proxy.accept();
    assert.ok(tookMs > 4_000 && tookMs < 6_000, `${tookMs} ms`);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof NoConnectionError);
      assert.deepEqual([result.reason.status, result.reason.headers], [503, { 'retry-after': '2' }]);
    }
  });

  it('an unknown role or database, which no repeat mends, fails at once', async () => {
    for (const [wrong, code] of [
      [test.url.replace('//ownline@', '//nobody@'), '28000'],
      [test.url.replace(/\/\w+\?/, '/missing?'), '3D000'],
    ] as const) {
      const other = new Database({ databaseUrl: wrong, logger });
      const startedMs = performance.now();
      await assert.rejects(other.hot.query('SELECT'), (error) => {
        return error instanceof NoConnectionError && errorCodeOf(error.cause) === code;
      });
      assert.ok(performance.now() - startedMs < 2_000, code);
      await other.close();
    }
  });

  it('codes of a dead host and of a primary that became a standby count as away, and those of a statement do not', () => {
    const codes = [
      'EHOSTUNREACH',
      'ENETUNREACH',
      'EHOSTDOWN',
      'ECONNABORTED',
      'ECONNREFUSED',
      '25006',
      '57P03',
    ];
    for (const code of [...codes, '53300', '08006'])
      assert.ok(isDatabaseAway(Object.assign(new Error(), { code })), code);
    for (const code of ['23505', '42501', '28P01', '3D000', 'EACCES'])
      assert.ok(!isDatabaseAway(Object.assign(new Error(), { code })), code);
  });

  it('a read whose connection was lost says 503, because nothing was stored; other errors stay as they are', () => {
    assert.throws(
      () => throwNothingStored(new Error('Connection terminated unexpectedly')),
      NoConnectionError,
    );
    const broken = new Error('syntax error');
    assert.throws(() => throwNothingStored(broken), broken);
  });
});

describe('requests during a switchover of the database', () => {
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '25' });
  const number = given(() => connectNumber(service, team, '+14155550100'));

  it('a send and a poll wait for a connection: the send gets 202, and the poll the message (§7.2/unavailable)', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    t.after(() => proxy.close());
    const other = await service.startAnother(undefined, { DATABASE_URL: proxy.url });
    t.after(() => other.close());
    const api = new ApiClient(other.baseUrl, team.api.key);
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'Hello' };
    assert.equal((await api.post('/v1/messages/send', message)).status, 202);
    proxy.refuse();
    const before = proxy.refused();
    const sending = api.post('/v1/messages/send', message);
    const phone = new DeviceWire(other.baseUrl, number.wire.token);
    phone.session = number.wire.session;
    const polling = phone.poll();
    await until('many tries were refused', () => proxy.refused() >= before + 8);
    proxy.accept();
    assert.equal((await sending).status, 202);
    assert.equal((await polling).action, 'send');
  });

  /** Breaks the connections of `proxy` while the message `content` is being stored, and mends them once it is. */
  async function breakCommit<T>(
    t: TestContext,
    proxy: FreezingProxy,
    content: string,
    send: () => Promise<T>,
  ) {
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const outcome = send();
    await untilBlocked(service, 'messages.accept-sends');
    proxy.refuse();
    await inserts.end();
    await until('it is stored', async () => (await storedMessages(service, { content })).length === 1);
    proxy.accept();
    return outcome;
  }

  it('a send whose commit succeeded as its connection broke is 202 (§7.2/unavailable)', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    const other = await service.startAnother(undefined, { DATABASE_URL: proxy.url });
    t.after(() => other.close().finally(proxy.close));
    const api = new ApiClient(other.baseUrl, team.api.key);
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'alone' };
    const answer = await breakCommit(t, proxy, 'alone', () => api.post('/v1/messages/send', message));
    const [stored] = await storedMessages(service, { content: 'alone' });
    assert.deepEqual([answer.status, field(answer.json, 'id')], [202, stored && publicId('msg', stored.id)]);
  });

  it('a send whose connection PostgreSQL ends before the commit is stored on another one, once', async (t) => {
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'ended' };
    const sending = team.api.post('/v1/messages/send', message);
    await cutBlocked(service, 'messages.accept-sends');
    await inserts.end();
    assert.equal((await sending).status, 202);
    assert.equal((await storedMessages(service, { content: 'ended' })).length, 1);
  });

  it('a send in doubt that is not found gets 500 with the reason, and can be repeated safely (§4.3/idempotency-key)', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    const other = await service.startAnother(undefined, { DATABASE_URL: proxy.url });
    t.after(() => other.close().finally(proxy.close));
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const api = new ApiClient(other.baseUrl, team.api.key);
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'in doubt' };
    const send = () => api.post('/v1/messages/send', message, { 'idempotency-key': 'doubt' });
    const sending = send();
    await untilBlocked(service, 'messages.accept-sends');
    proxy.refuse();
    const doubtful = await sending;
    assert.equal(doubtful.status, 500);
    assert.match(doubtful.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(
      String(field(doubtful.json, 'error.message')),
      /may have been accepted.*same Idempotency-Key/,
    );
    await inserts.end();
    proxy.accept();
    await until('it is accepted', async () => (await send()).status === 202);
    assert.equal((await storedMessages(service, { content: 'in doubt' })).length, 1);
  });

  it('a send whose rate limit could not be counted gets 503, because nothing was stored (§7.2/unavailable)', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    const other = await service.startAnother(undefined, { DATABASE_URL: proxy.url, RATE_LIMITS: 'on' });
    t.after(() => other.close().finally(proxy.close));
    const inserts = await holdInserts(service, 'rate_windows');
    t.after(() => inserts.end());
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'uncounted' };
    const sending = new ApiClient(other.baseUrl, team.api.key).post('/v1/messages/send', message);
    await untilBlocked(service, 'usage.reserve-permits');
    proxy.refuse();
    assert.equal((await sending).status, 503);
    assert.equal((await storedMessages(service, { content: 'uncounted' })).length, 0);
  });

  it('if such a batch stored a message, those of its sends that it did not store run again', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    const { config, logger, clock } = service.runtime;
    const runtime = await openRuntime(config, proxy.url, logger, clock);
    t.after(() => runtime.database.close().finally(proxy.close));
    const sends = createSendBatcher({ ...runtime, metrics: createMetrics() });
    const message = { teamId: team.id, from: number.phoneNumber, to: '+14155550101', content: 'batch' };
    const keyed = { ...sendRow(message), idempotencyKey: 'key', fingerprint: Buffer.from('batch') };
    const rows = [keyed, keyed, sendRow({ ...message, from: '+14155550199' })];
    const outcomes = await breakCommit(t, proxy, 'batch', () => Promise.all(rows.map(sends.accept)));
    const verdicts = outcomes.map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, ['accepted', 'replayed', 'from_unregistered']);
    assert.equal((await storedMessages(service, { content: 'batch' })).length, 1);
  });

  it('a standby refuses to look sends up, because the look-up is a commit that waits as theirs did', async () => {
    const text = allStatements().get('messages.find-stored')?.text ?? '';
    const looking = service.runtime.database.transaction(async (trx) => {
      await trx.query('SET TRANSACTION READ ONLY');
      await trx.query(text, [[], []]);
    });
    await assert.rejects(looking, (error) => errorCodeOf(error) === readOnlyCode);
  });

  it('sends that wait behind others get 503 with them after 5 s (§7.2/unavailable)', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    t.after(() => proxy.close());
    const other = await service.startAnother(undefined, { DATABASE_URL: proxy.url });
    t.after(() => other.close());
    const api = new ApiClient(other.baseUrl, team.api.key);
    const send = () =>
      api.post('/v1/messages/send', { from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    assert.equal((await send()).status, 202);
    proxy.refuse();
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 16 }, send));
    const tookMs = performance.now() - startedMs;
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]));
    assert.ok(tookMs < 9_000, `${tookMs} ms`);
  });
});

describe('a PostgreSQL that has too few connections (specification section 10.4)', () => {
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '25' });
  const number = given(() => connectNumber(service, team, '+14155550100'));

  it('a pool that gets no further connection does with those that it has, and logs it once', async (t) => {
    const test = await createTestDatabase();
    const lines: string[] = [];
    const noting = Object.assign(createLogger('silent'), { warn: (line: string) => lines.push(line) });
    const small = new Database({ databaseUrl: test.url, logger: noting });
    const { lift } = await limitConnections({ databaseUrl: test.url }, 2);
    t.after(async () => {
      await lift();
      await small.close();
      await test.close();
    });
    await small.hot.query('SELECT');
    const queries = Array.from({ length: 40 }, () => small.hot.query('SELECT pg_backend_pid() AS pid'));
    const pids = (await Promise.all(queries)).map(({ rows }) => rows[0].pid);
    assert.ok(new Set(pids).size <= 2, `${new Set(pids).size} connections`);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"ownline hot".*max_connections.*up to 31/);
  });

  it('if the listener or a pool can open no connection, it borrows one of the largest pool', async (t) => {
    const test = await createTestDatabase();
    const small = new Database({ databaseUrl: test.url, logger });
    const listener = new NotificationListener(test.url, logger, small);
    const heard: string[] = [];
    listener.on('test_channel', (payload) => heard.push(payload));
    await listener.start();
    await Promise.all([1, 2, 3].map(() => small.batches.query('SELECT pg_sleep(0.1)')));
    const { lift } = await limitConnections({ databaseUrl: test.url }, 3);
    t.after(async () => {
      await lift();
      await listener.stop();
      await small.close();
      await test.close();
    });
    await small.batches.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ownline notifications' AND datname = current_database()",
    );
    await until('it listens again', () => heard.length === 2);
    small.notify('test_channel', ['one']);
    await until('the notification arrives', () => heard.includes('one'));
    assert.equal((await small.pages.query('SELECT 1')).rowCount, 1);
    assert.deepEqual([small.batches.totalCount, small.batches.idleCount], [3, 2], 'the listener has one');
  });

  it('phones get their messages while no further connection opens, and sends are accepted', async (t) => {
    const message = { from: number.phoneNumber, to: '+14155550101', content: 'Hello' };
    const { lift } = await limitConnections(service, 1);
    t.after(lift);
    const sends = Array.from({ length: 30 }, () => team.api.post('/v1/messages/send', message));
    assert.deepEqual(new Set((await Promise.all(sends)).map(({ status }) => status)), new Set([202]));
    assert.equal((await number.wire.poll()).action, 'send');
  });

  it('/readyz fails if no connection is left, and a limit too low for a process has a sentence', async (t) => {
    const { lift } = await limitConnections(service, 0);
    t.after(lift);
    const sentence = await explainConnectionLimit(service.runtime.database.pool, 0);
    assert.equal(sentence, 'PostgreSQL allows 0 connections, and 1 process of Ownline may take 31.');
    await service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'ownline%' AND pid <> pg_backend_pid()`,
    );
    service.clock.advance(1_000);
    const { status, json } = await new ApiClient(service.baseUrl, '').get('/readyz');
    assert.equal(status, 503);
    assert.match(String(field(json, 'error.message')), /no connection left/);
  });
});
