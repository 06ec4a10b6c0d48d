import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { applySchema, schemaLock, schemaVersion } from '#server/database/apply-schema.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { StartError } from '#server/platform/start-error.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('the creation of the schema (decision 0050)', () => {
  const database = given(createEmptyDatabase);
  const client = given(async () => {
    const pool = new pg.Pool({ connectionString: database.url });
    // The creation of the schema may end connections of the test.
    pool.on('error', () => undefined);
    return { query: pool.query.bind(pool), connect: pool.connect.bind(pool), close: () => pool.end() };
  });

  const tables = async () => {
    const { rows } = await client.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`,
    );
    return rows.map(({ tablename }) => tablename);
  };
  const assertRefused = (message: RegExp, options?: Parameters<typeof applySchema>[1]) =>
    assert.rejects(
      withDatabaseErrors(database.url, () => applySchema(database.url, options)),
      (error: Error) => {
        assert.ok(error instanceof StartError);
        assert.match(error.message, message);
        return true;
      },
    );

  it('a creation that is killed half-way leaves the database empty', async () => {
    // Another session has begun to create the same table, so the creation waits for it until the process is killed.
    const holder = await client.connect();
    await holder.query('BEGIN');
    await holder.query('CREATE TABLE due_deliveries (id uuid)');
    const applying = applySchema(database.url);
    applying.catch(() => undefined);
    const isCreation = "datname = current_database() AND application_name = 'ownline schema'";
    await until('the creation waits', async () => {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE ${isCreation} AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${isCreation}`);
    await assert.rejects(applying);
    await holder.query('ROLLBACK');
    holder.release();
    assert.deepEqual(await tables(), []);
  });

  const [earlier, other] = [
    /from before its first release.* another DATA_DIR, or with an empty database in DATABASE_URL/s,
    (name: string) =>
      new RegExp(`another program .*relation "${name}" already exists.* an empty database in DATABASE_URL`),
  ];
  for (const [name, columns, message] of [
    ['messages', 'id int', other('messages')],
    ['schema_versions', 'name text', other('schema_versions')],
    ['schema_version', 'version bigint PRIMARY KEY, md5 text', earlier],
    ['send_queue', 'id uuid', earlier],
  ] as const) {
    it(`a database with a table ${name} of another program or from before the first release is refused with advice, and is not changed`, async () => {
      await client.query(`CREATE TABLE ${name} (${columns})`);
      await assertRefused(message);
      assert.deepEqual(await tables(), [name]);
      await client.query(`DROP TABLE ${name}`);
    });
  }

  it('a start that waits for another process to create the schema says so, and after a while gives up with advice (§10.10/one-at-a-time)', async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const holder = await client.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [schemaLock]);
    const options = { logger, lockWait: { noticeMs: 1, maxMs: 300 } };
    await assertRefused(/creates or restores the database: .* has ended/, options);
    assert.deepEqual(lines, [
      'another process creates or restores the database; this one waits until it has ended',
    ]);
    holder.release(true);
    assert.deepEqual(await tables(), []);
  });

  it('one of several simultaneous starts creates the schema and logs it, and a further start changes nothing', async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const apply = () => applySchema(database.url, { logger, lockWait: { noticeMs: 60_000, maxMs: 60_000 } });
    const created = await Promise.all([apply(), apply(), apply(), apply()]);
    assert.deepEqual(created.toSorted(), [false, false, false, true]);
    assert.equal(await apply(), false);
    assertEach(lines, (line) => JSON.parse(line).msg.replace(/[\d.]+ s$/, 'N s'), ['database made in N s']);
  });

  it('a schema of a newer release is refused with both versions and advice, and is not changed', async () => {
    const newer = schemaVersion + 1;
    await client.query("INSERT INTO schema_versions VALUES ($1, sha256('newer'))", [newer]);
    await assertRefused(
      new RegExp(
        `schema version ${newer}.*schema version ${schemaVersion}.*Start the newer release again, or restore`,
        's',
      ),
    );
    await client.query('DELETE FROM schema_versions WHERE version = $1', [newer]);
    assert.equal(await applySchema(database.url), false);
  });
});
