import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tableDeclarations } from '#server/database/table-declaration.ts';
import { assertRestoresWhole, backUp, restoreCopy } from '#test/support/backups/restored-copy.ts';
import { withoutRowsOf } from '#test/support/backups/rewrite-backup.ts';
import { rowOfEachTable } from '#test/support/backups/row-of-each-table.ts';
import { openBareDatabase } from '#test/support/database/bare-database.ts';
import { hasTables, readDatabaseContent } from '#test/support/database/database-content.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

describe('a backup of each table (specification section 10.10)', () => {
  const database = given(openBareDatabase);

  it('a database with a row in each table is restored row by row (§10.10/whole)', async () => {
    for (const [table, rows] of Object.entries(rowOfEachTable(database.team))) {
      for (const row of rows) await database.insert(table, row);
    }
    const { rows: tables } = await database.pool.query<{ name: string; has_row: boolean }>(
      `SELECT relname AS name,
         xpath_exists('//row', query_to_xml(format('SELECT 1 FROM %I LIMIT 1', relname), false, false, '')) AS has_row
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    const kept = tables.filter(({ name }) => tableDeclarations.get(name)?.isInBackups);
    assert.ok(kept.length > 40, String(kept.length));
    const empty = kept.filter(({ has_row }) => !has_row).map(({ name }) => name);
    assert.deepEqual(empty, [], 'a new table needs a row in test/support/backups/row-of-each-table.ts');
    await assertRestoresWhole({ databaseUrl: database.url });
  });

  it('a backup that breaks a rule across tables is refused, and the database stays empty (§10.10/one-transaction)', async () => {
    const backup = await backUp({ databaseUrl: database.url });
    const withoutTestTeams = await withoutRowsOf(backup, ['api_keys', 'test_teams']);
    const target = await createEmptyDatabase();
    await assert.rejects(
      restoreCopy(withoutTestTeams, target.url),
      /^BackupError: The database refuses what is in the file \(a test team has the test line and no other number\)/,
    );
    assert.equal(await hasTables(target.url), false);
    await target.close();
  });

  it('tables whose foreign keys form a circle are named, and a deferrable key ends the circle (§10.10/whole)', async () => {
    const key = 'ALTER TABLE accounts ADD FOREIGN KEY (id) REFERENCES members (account_id)';
    await database.pool.query('ALTER TABLE members ADD CONSTRAINT one_team UNIQUE (account_id)');
    await database.pool.query(key);
    await assert.rejects(
      backUp({ databaseUrl: database.url }),
      /^BackupError: The foreign keys of the tables accounts, members form a circle, so no order loads them\./,
    );
    await database.pool.query('ALTER TABLE accounts DROP CONSTRAINT accounts_id_fkey');
    await database.pool.query(`${key} DEFERRABLE`);
    await backUp({ databaseUrl: database.url });
  });

  it('tables and sequences of another program beside ours are not in the backup, and do not hinder its restore (§10.10/whole)', async () => {
    await database.pool.query(
      'CREATE TABLE invoices (id bigserial PRIMARY KEY, next bigint REFERENCES invoices)',
    );
    await database.pool.query('INSERT INTO invoices DEFAULT VALUES');
    const backup = await backUp({ databaseUrl: database.url });
    const target = await createEmptyDatabase();
    await restoreCopy(backup, target.url);
    await database.pool.query('DROP TABLE invoices');
    assert.deepEqual(await readDatabaseContent(target.url), await readDatabaseContent(database.url));
    await target.close();
  });

  it('a database of another encoding is named as the reason, and not the file (§10.10/empty-only)', async () => {
    const target = await createEmptyDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const backup = await backUp({ databaseUrl: database.url });
    await assert.rejects(
      restoreCopy(backup, target.url),
      /^BackupError: The database has the encoding LATIN1, .* `CREATE DATABASE ownline ENCODING 'UTF8'/,
    );
    await target.close();
  });
});
