import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { Database, isDatabaseAway } from '#server/database/database.ts';
import { NotificationListener } from '#server/database/listener.ts';
import { NotifySender } from '#server/database/notify-sender.ts';
import type { Transaction } from '#server/database/query.ts';
import { NoConnectionError } from '#server/database/seek-connection.ts';
import { initializeClock } from '#server/database/start-clock.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { anyTeamExists } from '#server/teams/team/team.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { startFreezingProxy } from '#test/support/proxies/freezing-proxy.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const logger = createLogger('silent');

describe('connections to the database (specification section 10.3)', () => {
  const test = given(createTestDatabase);
  const database = given(() => new Database({ databaseUrl: test.url, logger }));

  const endConnections = (application: string) =>
    database.pool.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`,
      [application],
    );

  it('a connection that reports its end twice, also during a query, does not end the process', async () => {
    const client = await database.hot.connect();
    client.emit('error', new Error('write EPIPE'));
    client.emit('error', new Error('write EPIPE'));
    client.release(true);
    assert.equal((await database.hot.query('SELECT')).rowCount, 1);
  });

  it('a query gets a new connection after the pool’s connections were ended', async () => {
    const clients = await Promise.all([database.hot.connect(), database.hot.connect()]);
    for (const client of clients) client.release();
    assert.deepEqual(
      (await endConnections('ownline hot')).rows,
      clients.map(() => ({ ended: true })),
    );
    await until('a query succeeds', () =>
      database.hot.query('SELECT').then(
        () => true,
        () => false,
      ),
    );
  });

  it('a transaction that throws changes nothing and returns its connection', async () => {
    for (let round = 0; round < 30; round += 1) {
      await assert.rejects(
        database.transaction(async (trx) => {
          await trx.query('CREATE TABLE left_behind ()');
          throw new Error('changed my mind');
        }),
        /changed my mind/,
      );
    }
    const { rows } = await database.pool.query("SELECT to_regclass('left_behind') AS found");
    assert.deepEqual(rows, [{ found: null }]);
  });

  /** Listens to channels during a test. @returns the payloads, in order */
  async function listenTo(t: TestContext, ...channels: readonly string[]): Promise<string[]> {
    const heard: string[] = [];
    const notifications = new NotificationListener(test.url, logger);
    for (const channel of channels) notifications.on(channel, (payload) => heard.push(payload));
    t.after(() => notifications.stop());
    await notifications.start();
    return heard;
  }

  it('the listener reconnects after its connection was ended, and then asks subscribers to read again', async (t) => {
    const heard = await listenTo(t, 'test_channel');
    assert.deepEqual(heard, [''], 'a new listener reads once');
    await endConnections('ownline notifications');
    await until('the listener is called to read again', () => heard.length === 2);
    assert.equal(heard[1], '');
    database.notify('test_channel', ['one', 'two']);
    await until('the notification arrives', () => heard.length === 3);
    assert.deepEqual(heard[2]?.split(',').sort(), ['one', 'two']);
  });

  it('notifications of one tick are sent as one, which has no ids if any of them has none', async (t) => {
    const heard = await listenTo(t, 'merged_channel', 'other_channel');
    for (const [together, merged] of [
      [[['one'], ['two']], 'one,two'],
      [[['one'], []], ''],
      [[[], ['one']], ''],
    ] as const) {
      heard.length = 0;
      const notifier = new NotifySender(database.pool, logger);
      for (const ids of together) notifier.notify('merged_channel', ids);
      notifier.notify('other_channel', ['last']);
      await until('the last one arrives', () => heard.includes('last'));
      assert.deepEqual(heard, [merged, 'last']);
    }
  });

  it('a notification names all of its ids, however many they are', async (t) => {
    const heard = await listenTo(t, 'long_channel');
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    new NotifySender(database.pool, logger).notify('long_channel', ids);
    const all = () => heard.slice(1).join().split(',');
    await until('the last id arrives', () => all().at(-1) === ids.at(-1));
    assert.deepEqual(all(), ids);
  });

  it('a connection that stops answering is discarded, even during a transaction', async (t) => {
    const proxy = await startFreezingProxy(test.url);
    const databaseUrl = proxy.url;
    const beyond = new Database({ databaseUrl, logger, poolSize: 2, statementTimeoutMs: 200 });
    const notifications = new NotificationListener(databaseUrl, logger);
    t.after(() => notifications.stop());
    t.after(() => beyond.close());
    t.after(() => proxy.close());
    await notifications.start();
    await Promise.all([beyond.pool.query('SELECT'), beyond.pool.query('SELECT'), beyond.hot.query('SELECT')]);
    proxy.freeze();
    const silent = [
      beyond.hot.query('SELECT'),
      beyond.transaction((trx) => trx.query('SELECT')),
      beyond.pool.query('SELECT'),
    ];
    for (const result of await Promise.allSettled(silent)) {
      assert.equal(result.status, 'rejected');
      assert.ok(isDatabaseAway(result.reason), String(result.reason));
    }
    assert.equal((await beyond.hot.query('SELECT')).rowCount, 1, 'on a new connection');
    assert.equal(await beyond.transaction(async (trx) => (await trx.query('SELECT')).rowCount), 1);
  });

  it('a request that gets no free connection is answered 503 with retry-after, and sends no statement (§8/team-concurrency)', async () => {
    const small = new Database({ databaseUrl: test.url, logger, poolSize: 1 });
    const client = await small.pool.connect();
    const refused = await Promise.allSettled([
      small.transaction(async () => undefined),
      anyTeamExists(small.pool),
    ]);
    client.release();
    for (const result of refused) {
      assert.ok(result.status === 'rejected' && result.reason instanceof NoConnectionError);
      assert.equal(result.reason.status, 503);
      assert.equal(result.reason.headers['retry-after'], '2');
      assert.ok(isDatabaseAway(result.reason), 'a background task tries again');
    }
    assert.equal(await anyTeamExists(small.pool), false);
    await small.close();
  });

  it('the loser of a deadlock is repeated once, and both transactions commit (docs/internals/locks.md)', async () => {
    const holding: number[] = [];
    const both = Promise.withResolvers<void>();
    const takeBoth = (first: number, second: number) =>
      database.transaction(async (trx) => {
        await trx.query('SELECT pg_advisory_xact_lock(77, $1)', [first]);
        holding.push(first);
        if (holding.length === 2) both.resolve();
        await both.promise;
        await trx.query('SELECT pg_advisory_xact_lock(77, $1)', [second]);
        return first;
      });
    assert.deepEqual(await Promise.all([takeBoth(1, 2), takeBoth(2, 1)]), [1, 2]);
    assert.equal(holding.length, 3);
  });

  it('a transaction that fails again in its repeat fails with the deadlock, on each pool', async () => {
    let tries = 0;
    const lose = async (trx: Transaction) => {
      tries += 1;
      await trx.query("DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40P01'; END $$");
    };
    await assert.rejects(database.transaction(lose), /lost/);
    assert.equal(tries, 2);
    await assert.rejects(database.transaction(lose, database.batches), /lost/);
    assert.equal(tries, 4);
  });

  it('work whose connection ends within a transaction is retried, as if the database had gone away', async () => {
    const ended = database.transaction(async (trx) => {
      const { rows } = await trx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const lost = once(trx, 'error');
      await database.hot.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await lost;
      await trx.query('SELECT');
    });
    await assert.rejects(ended, (error) => isDatabaseAway(error));
    const idle = database.transaction(async (trx) => {
      await trx.query("SET LOCAL idle_in_transaction_session_timeout = '10ms'");
      await once(trx, 'error').then(([error]) => Promise.reject(error));
    });
    await assert.rejects(idle, (error) => isDatabaseAway(error));
  });

  it('a clock that is read through the database is not shifted by waiting for a connection', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => database.pool.connect()));
    const clock = new Clock();
    const syncing = initializeClock(database.pool, clock);
    await database.hot.query('SELECT pg_sleep(0.3)');
    for (const client of clients) client.release();
    await syncing;
    const { rows } = await database.hot.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    const aheadMs = clock.nowMs() - (rows[0]?.ms ?? 0);
    assert.ok(Math.abs(aheadMs) < 100, `${aheadMs} ms`);
  });
});
