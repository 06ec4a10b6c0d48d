import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { migrate } from '#server/database/migrate.ts';
import { StartError } from '#server/platform/start-error.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

describe('the schema of the first release (decision 0003)', () => {
  const database = given(createEmptyDatabase);
  const client = given(
    async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      return client;
    },
    (client) => client.end(),
  );

  it('a database from before the first release is refused with advice, and is not changed', async () => {
    await client.query(
      'CREATE TABLE schema_version (version bigint PRIMARY KEY, name text, md5 text, run_at timestamptz)',
    );
    await client.query(`INSERT INTO schema_version VALUES (1, 'foundation'), (9, 'clock')`);
    await assert.rejects(migrate(database.url), (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /from before its first release/);
      assert.match(error.message, /another DATA_DIR, or with an empty database in DATABASE_URL/);
      return true;
    });
    const { rows } = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    assert.deepEqual(rows, [{ tablename: 'schema_version' }]);
    await client.query('DROP TABLE schema_version');
  });

  it('pages of tables whose rows are soon updated have free space, in later months too (decisions 0017 and 0036)', async () => {
    await migrate(database.url);
    await client.query(`SELECT make_partition('deliveries', '2026-11-01', 1000)`);
    const { rows } = await client.query<{ relname: string; reloptions: string[] }>(
      `SELECT relname, reloptions FROM pg_class WHERE reloptions::text LIKE '%fillfactor%' AND relname ~ 'deliveries' ORDER BY 1`,
    );
    assert.deepEqual(
      rows.map(({ relname, reloptions }) => `${relname} ${reloptions}`),
      [
        'deliveries_2026_11 fillfactor=80',
        'deliveries_default fillfactor=80',
        'due_deliveries fillfactor=50',
      ],
    );
  });

  it('bytes of media are stored uncompressed outside of their rows, in later months too (decision 0025)', async () => {
    await client.query(`SELECT make_partition('media_chunks', '2026-11-01', 1000)`);
    const { rows } = await client.query<{ relname: string; attstorage: string }>(
      `SELECT relname, attstorage FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
       WHERE attname = 'data' AND relname LIKE 'media_chunks%' ORDER BY 1`,
    );
    assert.deepEqual(
      rows.map(({ relname, attstorage }) => `${relname} ${attstorage}`),
      ['media_chunks e', 'media_chunks_2026_11 e', 'media_chunks_default e'],
    );
  });

  it('each trigger of inserted rows is deferrable, so that the order in which a restore loads tables does not matter (decision 0044)', async () => {
    const { rows } = await client.query<{ tgname: string; tgdeferrable: boolean }>(
      `SELECT tgname, tgdeferrable FROM pg_trigger
       WHERE NOT tgisinternal AND tgtype & 4 <> 0 AND tgparentid = 0 ORDER BY 1`,
    );
    assert.deepEqual(rows, [{ tgname: 'numbers_test_line', tgdeferrable: true }]);
  });
});
