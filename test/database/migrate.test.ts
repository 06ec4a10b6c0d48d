import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { migrate } from '#server/database/migrate.ts';
import { until } from '#test/support/until.ts';

const engineUrl = process.env.TEST_ENGINE_URL ?? '';

describe('migrations (decision 0003)', () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = engineUrl.replace('/ownline?', `/${name}?`);
  let administrator: pg.Client;

  before(async () => {
    administrator = new pg.Client({ connectionString: engineUrl.replace('/ownline?', '/postgres?') });
    await administrator.connect();
    await administrator.query(`CREATE DATABASE ${name}`);
  });
  after(async () => {
    await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await administrator.end();
  });

  const tables = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    await client.end();
    return rows;
  };

  it('one that is killed half-way leaves the schema as it was', async () => {
    // Somebody holds the turn, so that the migration waits where it can be ended.
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('CREATE TABLE schema_version (version bigint PRIMARY KEY)');
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE schema_version');
    const migrating = migrate(url);
    migrating.catch(() => undefined);
    await until('the migration waits', async () => {
      const { rows } = await administrator.query(
        `SELECT FROM pg_stat_activity WHERE datname = $1 AND application_name = 'ownline migrations' AND wait_event_type = 'Lock'`,
        [name],
      );
      return rows.length > 0;
    });
    await administrator.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'ownline migrations'`,
      [name],
    );
    await assert.rejects(migrating);
    await holder.query('ROLLBACK');
    await holder.query('DROP TABLE schema_version');
    await holder.end();
    assert.deepEqual(await tables(), []);
  });

  it('of several processes that start at once one migrates and the others find it done; again is nothing', async () => {
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
    assert.deepEqual(applied.map((versions) => versions.length).sort(), [0, 0, 0, applied.flat().length]);
    assert.ok(applied.flat().length > 0);
    assert.deepEqual(await migrate(url), []);
  });
});
