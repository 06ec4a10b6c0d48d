import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { migrate } from '#server/database/migrate.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { until } from '#test/support/service/until.ts';

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
    await administrator.query(`DROP DATABASE ${name}`);
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
    // Another session holds the migration lock, so that the migration waits where it can be ended.
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

  it('one of several processes that start at once migrates; a further start changes nothing', async () => {
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
    assert.deepEqual(applied.map((versions) => versions.length).sort(), [0, 0, 0, applied.flat().length]);
    assert.ok(applied.flat().length > 0);
    assert.deepEqual(await migrate(url), []);
  });

  it('a schema of a newer release is refused with both versions and advice, and is not changed', async () => {
    const newer = schemaVersion + 1;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('INSERT INTO schema_version (version) VALUES ($1)', [newer]);
    await assert.rejects(migrate(url), (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.ok(error.message.includes(`schema version ${newer}`), error.message);
      assert.ok(error.message.includes(`schema version ${schemaVersion}`), error.message);
      assert.match(error.message, /Start the newer release again, or restore/);
      return true;
    });
    await client.query('DELETE FROM schema_version WHERE version = $1', [newer]);
    assert.deepEqual(await migrate(url), []);
    await client.end();
  });

  it('each migration is logged with its name and how long it took', async () => {
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.query(`CREATE DATABASE ${name}`);
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const versions = await migrate(url, { logger });
    const logged = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      logged.map(({ version }) => version),
      versions,
    );
    assert.match(logged[0].msg, /^migration 1 schema took \d+ ms$/);
    for (const { ms } of logged) assert.equal(typeof ms, 'number');
  });
});
