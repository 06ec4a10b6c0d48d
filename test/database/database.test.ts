import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Database } from '#server/database/database.ts';
import { Notifications } from '#server/database/notifications.ts';
import { createLogger } from '#server/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { until } from '#test/support/until.ts';

const logger = createLogger('silent');

describe('connections to the database (specification section 10.3)', () => {
  let test: TestDatabase;
  let database: Database;

  before(async () => {
    test = await createTestDatabase();
    database = new Database({ databaseUrl: test.url, logger });
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  const endConnections = (application: string) =>
    database.pool.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`,
      [application],
    );

  it('a connection may report its end twice, also while a query holds it, and the process goes on', async () => {
    const client = await database.hot.connect();
    client.emit('error', new Error('write EPIPE'));
    client.emit('error', new Error('write EPIPE'));
    client.release(true);
    assert.equal((await database.hot.query('SELECT')).rowCount, 1);
  });

  it('a query after its connections were ended gets a new one', async () => {
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

  it('a transaction that throws leaves nothing and returns its connection', async () => {
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

  it('notifications arrive again after their connection was ended, and listeners are told to look', async () => {
    const heard: string[] = [];
    const notifications = new Notifications(test.url, logger);
    notifications.on('test_channel', (payload) => heard.push(payload));
    await notifications.start();
    try {
      assert.deepEqual(heard, [''], 'whoever begins to listen looks once');
      await endConnections('ownline notifications');
      await until('the listener is told to look again', () => heard.length === 2);
      assert.equal(heard[1], '');
      database.notify('test_channel', ['one', 'two']);
      await until('the notification arrives', () => heard.length === 3);
      assert.deepEqual(heard[2]?.split(',').sort(), ['one', 'two']);
    } finally {
      await notifications.stop();
    }
  });
});
