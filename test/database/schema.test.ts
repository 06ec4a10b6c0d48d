import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { tableDeclarations } from '#server/database/table-declaration.ts';
import { explainGeneric } from '#test/support/database/explain-page.ts';
import { givenClient } from '#test/support/database/given-database.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';

describe('the schema of the first release (decision 0050)', () => {
  const client = givenClient(given(createTestDatabase));

  it('a look-up by the primary key uses a unique index while a table is empty, and so do checks of foreign keys', async () => {
    const { rows: keys } = await client.query<{ table: string; unique: string[]; condition: string }>(
      `SELECT c.relname AS table, ARRAY(SELECT u.indexrelid::regclass::text FROM pg_index u
         WHERE u.indrelid = c.oid AND u.indisunique AND u.indpred IS NULL) AS unique, string_agg(
         format('%I = $%s::%s', a.attname, k.n, format_type(a.atttypid, NULL)), ' AND ' ORDER BY k.n) AS condition
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       CROSS JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY AS k (attnum, n)
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
       WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace GROUP BY c.oid ORDER BY 1`,
    );
    assert.ok(keys.length > 50, `${keys.length} primary keys`);
    await client.query('SET enable_seqscan = off');
    for (const { table, unique, condition } of keys) {
      for (const lock of ['', 'FOR KEY SHARE']) {
        const asked = `SELECT 1 FROM ONLY ${table} x WHERE ${condition} ${lock}`;
        const plan = (await explainGeneric<string>(client, asked, 'COSTS OFF')).join('\n');
        assert.ok(
          unique.some((index) => plan.includes(` ${index} `)),
          `${table} ${lock}: ${plan}`,
        );
      }
    }
  });

  it('every table declares its scope, its erasure, how long its rows are kept, and whether backups have it', async () => {
    const { rows } = await client.query<{ name: string; columns: string[] }>(
      `SELECT c.relname AS name, array_agg(a.attname::text) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.oid ORDER BY 1`,
    );
    assert.ok(rows.length > 50);
    const ofHandles = ['contact', 'handles', 'from_handle', 'to_handle', 'recipient', 'email', 'ip'];
    for (const { name, columns } of rows) {
      const declaration = tableDeclarations.get(name);
      assert.ok(declaration, `${name} has no COMMENT ON TABLE as in server/database/table-declaration.ts`);
      const { scope, isOfPerson } = declaration;
      assert.equal(columns.includes('team_id') || name === 'teams', scope === 'team', `${name}: ${scope}`);
      if (scope === 'account') assert.ok(columns.includes('account_id') || name === 'accounts', name);
      if (columns.some((column) => ofHandles.includes(column))) assert.ok(isOfPerson, `${name} has handles`);
    }
  });

  it('tables whose rows are updated soon after they are written leave free space in their pages (decision 0017)', async () => {
    const { rows } = await client.query<{ relname: string; reloptions: string[] }>(
      `SELECT relname, reloptions FROM pg_class WHERE reloptions::text LIKE '%fillfactor%' AND relname ~ 'deliveries' ORDER BY 1`,
    );
    assertEach(rows, ({ relname, reloptions }) => `${relname} ${reloptions}`, [
      'deliveries fillfactor=80',
      'due_deliveries fillfactor=50',
    ]);
  });

  it('bytes of media are stored uncompressed and outside of their rows (decision 0025)', async () => {
    const { rows } = await client.query<{ attstorage: string }>(
      `SELECT attstorage FROM pg_attribute WHERE attname = 'data' AND attrelid = 'media_chunks'::regclass`,
    );
    assert.deepEqual(rows, [{ attstorage: 'e' }]);
  });

  it('each trigger on inserts is deferrable, so that a restore can load tables in any order (decision 0037)', async () => {
    const { rows } = await client.query<{ tgname: string; tgdeferrable: boolean }>(
      `SELECT tgname, tgdeferrable FROM pg_trigger
       WHERE NOT tgisinternal AND tgtype & 4 <> 0 AND tgparentid = 0 ORDER BY 1`,
    );
    assert.deepEqual(rows, [{ tgname: 'numbers_test_line', tgdeferrable: true }]);
  });

  it('the schema has each constraint, index and trigger that docs/internals/invariants.md names', async () => {
    const page = await readFile('docs/internals/invariants.md', 'utf8');
    const named = [...page.matchAll(/^\|[^|]+\|([^|]+)\|$/gm)].flatMap(
      ([, names = '']) => names.match(/(?<=`)\w+(?=`)/g) ?? [],
    );
    assert.ok(named.length > 40);
    const { rows: missing } = await client.query(
      `SELECT name FROM unnest($1::text[]) AS name WHERE name NOT IN
         (SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class UNION SELECT tgname FROM pg_trigger)`,
      [named],
    );
    assert.deepEqual(missing, []);
  });
});
