import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { before, describe, it } from 'node:test';
import pg from 'pg';
import { BackupError } from '#server/backups/archive/backup-error.ts';
import type { BackupRecord } from '#server/backups/archive/backup-reader.ts';
import { createBackup } from '#server/backups/archive/create-backup.ts';
import { applySchema, schemaVersion } from '#server/database/apply-schema.ts';
import { tableDeclarations } from '#server/database/table-declaration.ts';
import { memoryDestination } from '#test/support/backups/memory-stream.ts';
import { backUp, restoreCopy, secretsKeyOfTests } from '#test/support/backups/restored-copy.ts';
import { rewriteBackup, withoutRowsOf } from '#test/support/backups/rewrite-backup.ts';
import { rowOfEachTable } from '#test/support/backups/row-of-each-table.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { openBareDatabase } from '#test/support/database/bare-database.ts';
import { hasTables, readDatabaseContent } from '#test/support/database/database-content.ts';
import { tablesAnalyzedEmpty } from '#test/support/database/planner-statistics.ts';
import { holdBackupLock, holdTableLock } from '#test/support/database/row-lock.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given, givenEach, givenFolder } from '#test/support/service/given.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

/** Texts with each character that the text format of COPY escapes, and some that it does not. */
const oddTexts = [
  'a\tb\nc\rd\\e\\N\\.',
  '\\.',
  '\\N',
  '\u0001\u007f "quoted" \'single\'',
  '😀 ümlaut \u202e',
];

describe('a backup and its restore (specification section 10.10)', () => {
  const database = given(openBareDatabase);
  const target = givenEach(createEmptyDatabase);
  const folder = givenFolder('ownline-backup-');
  let backup: Buffer;

  before(async () => {
    const rows = rowOfEachTable(database.team);
    for (const [table, found] of Object.entries(rows))
      for (const row of found) await database.insert(table, row);
    for (const [index, name] of oddTexts.entries()) {
      const [account] = rows.accounts ?? [];
      const id = `018f0000-0000-7000-8000-00000000009${index}`;
      await database.insert('accounts', { ...account, id, normalized_email: `${index}@example.com`, name });
    }
    backup = await backUp(database.url);
  });

  const newFolder = () => mkdtemp(join(folder, 'data-'));
  const withSchema = (sql: string) => database.pool.query(sql);

  it('a backup has each table, row and sequence, and a restore runs ANALYZE on the tables with rows only (§10.10/whole)', async () => {
    const content = await readDatabaseContent(database.url);
    const kept = [...tableDeclarations].flatMap(([name, { isInBackups }]) => (isInBackups ? name : []));
    const empty = kept.filter((name) => content[name]?.startsWith('0 '));
    assert.ok(kept.length > 40, String(kept.length));
    assert.deepEqual(empty, [], 'a new table needs a row in test/support/backups/row-of-each-table.ts');
    await restoreCopy(backup, target.url);
    assert.deepEqual(await readDatabaseContent(target.url), content);
    // A plan for a table that was analyzed while empty would read all rows that come later (decision 0050).
    const copy = new pg.Pool({ connectionString: target.url, max: 1 });
    const { rows } = await copy.query("SELECT FROM pg_class WHERE relname = 'messages' AND reltuples > 0");
    assert.equal(rows.length, 1);
    assert.deepEqual(await tablesAnalyzedEmpty(copy).finally(() => copy.end()), []);
  });

  it('a backup fails if foreign keys form a cycle, names the tables, and succeeds once one of the keys is deferrable (§10.10/whole)', async () => {
    const key = 'ALTER TABLE accounts ADD FOREIGN KEY (id) REFERENCES members (account_id)';
    await withSchema(
      "DELETE FROM accounts WHERE id <> '018f0000-0000-7000-8000-000000000002'; ALTER TABLE members ADD CONSTRAINT one_team UNIQUE (account_id)",
    );
    await withSchema(key);
    await assert.rejects(
      backUp(database.url),
      /^Error: The foreign keys of the tables accounts, members form a circle, so no order loads them\./,
    );
    await withSchema('ALTER TABLE accounts DROP CONSTRAINT accounts_id_fkey');
    await withSchema(`${key} DEFERRABLE`);
    await backUp(database.url);
  });

  it('tables and sequences of another program beside ours are not in the backup, and do not hinder its restore (§10.10/whole)', async () => {
    await withSchema('CREATE TABLE invoices (id bigserial PRIMARY KEY, next bigint REFERENCES invoices)');
    await withSchema('INSERT INTO invoices DEFAULT VALUES');
    await restoreCopy(await backUp(database.url), target.url);
    await withSchema('DROP TABLE invoices');
    assert.deepEqual(await readDatabaseContent(target.url), await readDatabaseContent(database.url));
  });

  it('a restore writes secrets.key for its owner alone, keeps an equal one, and writes none beside SECRETS_KEY (§10.10/restored-key)', async () => {
    const [dataDir, other] = [await newFolder(), await newFolder()];
    await restoreCopy(backup, target.url, { dataDir });
    const file = join(dataDir, 'secrets.key');
    assert.equal((await readFile(file, 'utf8')).trim(), secretsKeyOfTests.toString('base64'));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const [second, third] = [await createEmptyDatabase(), await createEmptyDatabase()];
    await restoreCopy(backup, second.url, { dataDir });
    await restoreCopy(backup, third.url, { dataDir: other, secretsKey: secretsKeyOfTests });
    await assert.rejects(stat(join(other, 'secrets.key')), /ENOENT/);
    for (const { close } of [second, third]) await close();
  });

  it('a restore into a database with rows is refused with advice, and a database with only Ownline’s empty tables is accepted (§10.10/empty-only)', async () => {
    await assert.rejects(
      restoreCopy(backup, database.url),
      /not empty: the table \w+ has rows.* create a new database/,
    );
    const client = new pg.Pool({ connectionString: target.url, max: 1 });
    await client.query('CREATE TABLE invoices (id int)');
    await assert.rejects(restoreCopy(backup, target.url), /not empty: it has a table invoices/);
    await client.query('DROP TABLE invoices').finally(() => client.end());
    await applySchema(target.url);
    await restoreCopy(backup, target.url);
  });

  it('a restore into a database of another encoding blames the database, and not the file (§10.10/empty-only)', async () => {
    const latin = await createEmptyDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    await assert.rejects(
      restoreCopy(backup, latin.url),
      /^BackupError: The database has the encoding LATIN1, .* `CREATE DATABASE ownline ENCODING 'UTF8'/,
    );
    await latin.close();
  });

  const flipped = (part: number) => {
    const at = Math.floor((backup.length * part) / 4) - 1;
    const damaged = Buffer.from(backup);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    return damaged;
  };
  const inManifest = (from: RegExp, to: string) => (record: BackupRecord) =>
    record.kind === 'manifest' ? Buffer.from(record.payload.toString().replace(from, to)) : record.payload;
  const withoutTab = ({ kind, payload }: BackupRecord) =>
    kind === 'rows' ? Buffer.from(payload.toString('latin1').replace('\t', ''), 'latin1') : payload;
  /** The rows of accounts are put behind an end-of-data mark, so that PostgreSQL loads none of them. */
  const cutAccounts = () => {
    let isOfAccounts = false;
    return rewriteBackup(backup, ({ kind, payload }) => {
      if (kind === 'table') isOfAccounts = payload.toString() === '{"name":"accounts"}';
      if (kind === 'rows' && isOfAccounts) return Buffer.concat([Buffer.from('\\.\n'), payload]);
      if (kind !== 'summary') return payload;
      const { rows } = JSON.parse(payload.toString());
      return Buffer.from(JSON.stringify({ rows: { ...rows, accounts: rows.accounts + 1 } }));
    });
  };
  const newer = { schema_version: schemaVersion + 1 };
  const foreign = /^BackupError: The database refuses what is in the file/;
  const refused: Readonly<Record<string, readonly [file: () => Buffer | Promise<Buffer>, RegExp]>> = {
    'damaged in its first quarter': [() => flipped(1), /The backup is damaged/],
    'damaged in its second quarter': [() => flipped(2), /The backup is damaged/],
    'damaged at its end': [() => flipped(4), /The backup is damaged/],
    'cut off': [() => backup.subarray(0, backup.length / 2), /damaged: it ends before its last byte/],
    doubled: [() => Buffer.concat([backup, backup]), /bytes follow the end of the backup/],
    'with an unknown sequence': [
      () => rewriteBackup(backup, inManifest(/"sequences":\[{"name":"\w+"/, '"sequences":[{"name":"none"')),
      foreign,
    ],
    'with a row of fewer columns': [() => rewriteBackup(backup, withoutTab), foreign],
    'that breaks a rule across tables': [
      () => withoutRowsOf(backup, ['api_keys', 'test_teams']),
      /^BackupError: The database refuses what is in the file \(a test team has the test line and no other number\)/,
    ],
    'of which PostgreSQL loads fewer rows': [
      cutAccounts,
      /damaged: the database loaded 0 of the \d+ rows in the file/,
    ],
    'of a newer schema': [
      () => rewriteBackup(backup, ({ payload }) => payload, newer),
      new RegExp(
        `has schema version ${newer.schema_version}, made by Ownline .*; this release knows ${schemaVersion}\\.`,
      ),
    ],
  };
  for (const [what, [file, reason]] of Object.entries(refused)) {
    it(`a backup ${what} is refused, and the database stays empty (§10.10/damage, §10.10/one-transaction, §10.10/older-schema)`, async () => {
      await assert.rejects(restoreCopy(await file(), target.url), (error: Error) => {
        assert.ok(error instanceof BackupError);
        assert.match(String(error), reason);
        return true;
      });
      assert.equal(await hasTables(target.url), false);
    });
  }

  it('a restore is refused, without any write, if DATA_DIR or SECRETS_KEY has another key (§10.10/restored-key)', async () => {
    const dataDir = await newFolder();
    await writeFile(join(dataDir, 'secrets.key'), randomBytes(32).toString('base64'));
    await assert.rejects(
      restoreCopy(backup, target.url, { dataDir }),
      /holds another key .* Move that file away/,
    );
    await assert.rejects(
      restoreCopy(backup, target.url, { secretsKey: randomBytes(32) }),
      /SECRETS_KEY is another key .* Leave it out/,
    );
    assert.equal(await hasTables(target.url), false);
  });

  it('a backup is refused while another backup runs (§10.10/one-at-a-time)', async () => {
    const other = await holdBackupLock({ databaseUrl: database.url });
    await assert.rejects(
      backUp(database.url),
      /Another backup, restore or migration of this database is running/,
    );
    await other.release();
    await backUp(database.url);
  });
});

describe('a backup beside the service (specification section 10.10)', () => {
  const service = given(() =>
    startTestService({
      SECRETS_KEY: secretsKeyOfTests.toString('base64'),
      METRICS_TOKEN: 'example-metrics-token',
    }),
  );
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team));
  const send = (content: string) => team.api.send({ from: number.phoneNumber, to: '+14155550142', content });
  const backUpTo = (stream: Writable) => {
    const { databaseUrl, dataDir, clock } = service;
    const source = { databaseUrl, dataDir, secretsKey: secretsKeyOfTests, passphrase: undefined };
    return createBackup({ ...source, serviceTime: () => clock.now() }, stream);
  };
  const runningSeconds = async () => {
    // The metric is cached for some seconds, so the clock is moved on.
    service.clock.advance(60_000);
    const headers = { authorization: 'Bearer example-metrics-token' };
    const { text } = await new ApiClient(service.baseUrl, '').request('GET', '/metrics', { headers });
    return Number(/^ownline_backup_running_seconds (\S+)$/m.exec(text)?.[1]);
  };

  it('a running backup delays no message, contains the state of its beginning, and is shown in `/metrics`', async () => {
    await send('before');
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const parts: Buffer[] = [];
    // The destination takes no bytes for a while, and the transaction of the backup stays open.
    const slow = new Writable({
      write: (part: Buffer, _encoding, done) => {
        parts.push(part);
        begun.resolve();
        release.promise.then(() => done());
      },
    });
    const backup = backUpTo(slow);
    await begun.promise;
    await send('meanwhile');
    const { id = '' } = await number.wire.poll();
    await number.wire.poll({ last: id });
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    await receive(number, '+14155550142', 'An answer');
    assert.ok((await runningSeconds()) > 0);
    release.resolve();
    await backup;
    await until('the backup has ended', async () => (await runningSeconds()) === 0);
    const restored = await createEmptyDatabase();
    await restoreCopy(Buffer.concat(parts), restored.url);
    const content = await readDatabaseContent(restored.url);
    assert.match(content.messages ?? '', /^1 /);
    assert.match(content.send_queue ?? '', /^1 /);
    await restored.close();
  });

  it('no row of a backup is younger than its taken_at, which is read after the backup got its locks (§10.10/whole)', async () => {
    const lock = await holdTableLock(service, 'devices');
    const backup = backUpTo(memoryDestination().stream);
    await lock.waiting(1);
    const id = await send('meanwhile');
    await lock.release();
    const { taken_at: takenAt } = await backup;
    const { created_at: createdAt } = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.ok(takenAt >= String(createdAt), `taken at ${takenAt}, and has a message of ${createdAt}`);
  });
});
