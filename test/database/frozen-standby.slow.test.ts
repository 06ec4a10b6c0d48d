import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import pg from 'pg';
import { applySchema } from '#server/database/apply-schema.ts';
import { Database } from '#server/database/database.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { GroupCommit } from '#server/database/group-commit.ts';
import { createReadiness } from '#server/database/readiness.ts';
import { NoConnectionError } from '#server/database/seek-connection.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('a synchronous standby that does not confirm (specification section 10.4)', () => {
  const dataDir = givenFolder('ownline-frozen-standby-');
  const engine = given(
    () => startEngine({ dataDir, logger: createLogger('silent'), parameters: { fsync: 'off' } }),
    (started) => started.stop(),
  );
  const superuser = given(
    async () => {
      await writeFile(join(dataDir, 'pg', 'pg_hba.conf'), 'local all all trust\n');
      const client = new pg.Client({ host: join(dataDir, 'socket'), user: 'postgres', database: 'ownline' });
      await client.connect();
      return client;
    },
    (client) => client.end(),
  );
  const database = given(
    () =>
      new Database({
        databaseUrl: engine.databaseUrl,
        logger: createLogger('silent'),
        statementTimeoutMs: 200,
      }),
    (opened) => opened.close(),
  );
  const change = 'UPDATE service_clock SET version = version';

  async function demand(standby: string): Promise<void> {
    await superuser.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await superuser.query('SELECT pg_reload_conf()');
    await until('it is demanded', async () => {
      const { rows } = await superuser.query('SHOW synchronous_standby_names');
      return rows[0].synchronous_standby_names === standby;
    });
  }

  async function countWaiting(): Promise<number> {
    const { rows } = await superuser.query(
      "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    return rows[0].waiting;
  }

  before(async () => {
    await applySchema(engine.databaseUrl);
  });

  it('waiting commits keep their slots, so there are never more of them, and all slots are free once the standby is back', async () => {
    await database.hot.query('SELECT');
    await demand('nobody');
    const write = () => database.hot.query("SELECT pg_logical_emit_message(true, 'test', 'waits')");
    const first = await Promise.allSettled(Array.from({ length: 4 }, write));
    for (const result of first)
      assert.match(String(result.status === 'rejected' && result.reason), /Query read timeout/);
    const beyond = await Promise.allSettled([write(), write()]);
    for (const result of beyond)
      assert.ok(result.status === 'rejected' && result.reason instanceof NoConnectionError);
    assert.equal(await countWaiting(), 4);
    await demand('');
    await until('the slots are free', () => database.hot.totalCount === 0);
    assert.equal((await database.hot.query('SELECT')).rowCount, 1);
  });

  it('/readyz is answered within 3 s', async () => {
    await demand('nobody');
    const startedMs = performance.now();
    await assert.rejects(createReadiness(database, new Clock())(), /within 2 s.*synchronous standby/);
    assert.ok(performance.now() - startedMs < 3_000);
    await demand('');
  });

  it('rows that wait behind a batch that timed out are refused at once, and stored nothing', async () => {
    await demand('nobody');
    const commit = new GroupCommit<string, string>({
      name: 'test',
      services: { metrics: createMetrics(), database },
      run: async (rows) => {
        await database.batches.query(change);
        return rows;
      },
      teamOf: (row) => row,
      windowMs: 0,
      waitingMax: 100,
      refuse: () => new Error('full'),
    });
    const first = commit.add('first');
    first.catch(() => undefined);
    await until('it waits', async () => (await countWaiting()) > 0);
    const waiting = commit.add('waiting');
    waiting.catch(() => undefined);
    await assert.rejects(first, /Query read timeout/);
    await assert.rejects(waiting, NoConnectionError);
    await demand('');
  });
});
