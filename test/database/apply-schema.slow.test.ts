import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { applySchema, schemaLock } from '#server/database/apply-schema.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { until } from '#test/support/service/until.ts';

const engineUrl = process.env.TEST_ENGINE_URL ?? '';

describe('the creation of the schema (decision 0050)', () => {
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

  it('a creation that is killed half-way leaves the database empty', async () => {
    // Another session has begun to create the same table, so the creation waits for it until the process is killed.
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('CREATE TABLE due_deliveries (id uuid)');
    const applying = applySchema(url);
    applying.catch(() => undefined);
    await until('the creation waits', async () => {
      const { rows } = await administrator.query(
        `SELECT FROM pg_stat_activity WHERE datname = $1 AND application_name = 'ownline schema' AND wait_event_type = 'Lock'`,
        [name],
      );
      return rows.length > 0;
    });
    await administrator.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'ownline schema'`,
      [name],
    );
    await assert.rejects(applying);
    await holder.query('ROLLBACK');
    await holder.end();
    assert.deepEqual(await tables(), []);
  });

  it('a table of another program with a name of ours is named, and the database is not changed', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const table of ['messages (id int)', 'schema_versions (name text)']) {
      await client.query(`CREATE TABLE ${table}`);
      const [name = ''] = table.split(' ');
      await assert.rejects(
        withDatabaseErrors(url, () => applySchema(url)),
        (error: Error) => {
          assert.ok(error instanceof StartError);
          assert.match(
            error.message,
            new RegExp(
              `another program .*relation "${name}" already exists.* an empty database in DATABASE_URL`,
            ),
          );
          return true;
        },
      );
      assert.deepEqual(await tables(), [{ tablename: name }]);
      await client.query(`DROP TABLE ${name}`);
    }
    await client.end();
  });

  it('a start that waits for the lock of the schema says so, and gives up with advice (§10.10/one-at-a-time)', async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [schemaLock]);
    await assert.rejects(
      applySchema(url, { logger, lockWait: { noticeMs: 1, maxMs: 300 } }),
      (error: Error) => {
        assert.ok(error instanceof StartError);
        assert.match(error.message, /creates or restores the database: .* has ended/);
        return true;
      },
    );
    assert.deepEqual(lines, [
      'another process creates or restores the database; this one waits until it has ended',
    ]);
    await holder.end();
    assert.deepEqual(await tables(), []);
  });

  it('one of several simultaneous starts creates the schema and logs it, and a further start changes nothing', async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const apply = () => applySchema(url, { logger });
    const created = await Promise.all([apply(), apply(), apply(), apply()]);
    assert.deepEqual(created.toSorted(), [false, false, false, true]);
    assert.equal(await apply(), false);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg.replace(/[\d.]+ s$/, 'N s')),
      ['database made in N s'],
    );
  });

  it('a schema of a newer release is refused with both versions and advice, and is not changed', async () => {
    const newer = schemaVersion + 1;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("INSERT INTO schema_versions VALUES ($1, sha256('newer'))", [newer]);
    await assert.rejects(applySchema(url), (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.ok(error.message.includes(`schema version ${newer}`), error.message);
      assert.ok(error.message.includes(`schema version ${schemaVersion}`), error.message);
      assert.match(error.message, /Start the newer release again, or restore/);
      return true;
    });
    await client.query('DELETE FROM schema_versions WHERE version = $1', [newer]);
    assert.equal(await applySchema(url), false);
    await client.end();
  });
});
