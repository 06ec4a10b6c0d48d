import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { backupLock } from '#server/database/backup-lock.ts';
import { migrate } from '#server/database/migrate.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { holdTransaction } from '#test/support/database/held-transaction.ts';
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

  it('a migration that is killed half-way leaves the schema unchanged', async () => {
    // Another session has the migration lock, so the migration waits for it until the process is killed.
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

  it('one of several simultaneous starts migrates, and a further start changes nothing', async () => {
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

  it('a migration waits for a running backup, and a start without a migration does not', async () => {
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.query(`CREATE DATABASE ${name}`);
    await migrate(url, { upTo: '001' });
    const backup = await holdTransaction({ databaseUrl: url }, 'SELECT pg_advisory_xact_lock($1)', [
      backupLock,
    ]);
    assert.deepEqual(await migrate(url, { upTo: '001' }), []);
    const migrating = migrate(url);
    await backup.waiting(1);
    await backup.release();
    assert.equal((await migrating).length, schemaVersion - 1);
  });

  const logOf = async (upTo = 'max') => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const versions = await migrate(url, { logger, upTo });
    return { versions, lines: lines.map((line) => JSON.parse(line)) };
  };

  it('the log has one line for the migrations of a new database, and a line for each migration of an upgrade', async () => {
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.query(`CREATE DATABASE ${name}`);
    const made = await logOf('002');
    assert.deepEqual(
      made.lines.map(({ msg }) => msg.replace(/[\d.]+ s$/, 'N s')),
      ['database made: 2 migrations in N s'],
    );
    const { versions, lines } = await logOf();
    assert.deepEqual(
      lines.map(({ version }) => version),
      versions,
    );
    assert.match(lines[0].msg, /^migration 3 media took \d+ ms$/);
    for (const { ms } of lines) assert.equal(typeof ms, 'number');
  });

  it('a migration waits only briefly for a table in use, so that sends do not queue behind it, and then starts over', async () => {
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.query(`CREATE DATABASE ${name}`);
    await migrate(url, { upTo: '013' });
    const reader = await holdTransaction({ databaseUrl: url }, 'LOCK TABLE numbers IN ACCESS SHARE MODE', []);
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const migrating = migrate(url, { logger });
    await until(
      'it gives up and begins anew, twice',
      async () => lines.filter((line) => /begins? anew|tried again/.test(line)).length >= 2,
    );
    await reader.release();
    assert.equal((await migrating).at(-1), schemaVersion);
  });

  it('each tenth wait of a migration is long enough for PostgreSQL to end an autovacuum for it', async () => {
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.query(`CREATE DATABASE ${name}`);
    await migrate(url, { upTo: '013' });
    const lock = 'LOCK TABLE numbers IN SHARE UPDATE EXCLUSIVE MODE';
    const vacuum = await holdTransaction({ databaseUrl: url }, lock, []);
    const migrating = migrate(url);
    // PostgreSQL ends an autovacuum once a lock has waited behind it for deadlock_timeout.
    await until('a lock waits for a second', async () => {
      const { rowCount } = await administrator.query(
        "SELECT FROM pg_locks WHERE NOT granted AND clock_timestamp() - waitstart > interval '1 second'",
      );
      return (rowCount ?? 0) > 0;
    });
    await vacuum.release();
    assert.equal((await migrating).at(-1), schemaVersion);
  });
});
