import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { testLine } from '#contract/test-line.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import { BackupError } from '#server/database/backup/backup-error.ts';
import type { BackupRecord } from '#server/database/backup/backup-reader.ts';
import { createBackup } from '#server/database/backup/create-backup.ts';
import { restoreBackup } from '#server/database/backup/restore-backup.ts';
import { backupLock } from '#server/database/backup-lock.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { memoryDestination, memorySource } from '#test/support/backups/memory-stream.ts';
import { rewriteBackup } from '#test/support/backups/rewrite-backup.ts';
import { givenFullTeam } from '#test/support/browser/full-team.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { hasTables, readDatabaseContent } from '#test/support/database/database-content.ts';
import { holdTransaction } from '#test/support/database/held-transaction.ts';
import { tablesAnalyzedEmpty } from '#test/support/database/planner-statistics.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const secretsKey = randomBytes(32);
/** Texts with each character that the text format of COPY escapes, and some that it does not. */
const oddTexts = [
  'a\tb\nc\rd\\e\\N\\.',
  '\\.',
  '\\N',
  '\u0001\u007f "quoted" \'single\'',
  '😀 ümlaut \u202e',
];

describe('a backup and its restore (specification section 10.10)', () => {
  let service: TestService;
  let folder: string;
  let backup: Buffer;
  const databases: TestDatabase[] = [];

  before(async () => {
    service = await startTestService({ SECRETS_KEY: secretsKey.toString('base64') });
    folder = await mkdtemp(join(tmpdir(), 'ownline-backup-'));
    await givenFullTeam(service);
    for (const text of oddTexts) {
      await service.query('INSERT INTO accounts VALUES (gen_random_uuid(), $1, $1, $2, NULL, NULL, $3)', [
        `${randomBytes(6).toString('hex')}@example.com`,
        text,
        service.clock.now(),
      ]);
    }
    await givenMedia();
    await givenTestTraffic();
    await service.app.lifecycle.close();
    backup = await backUp();
  });
  after(async () => {
    await service.close();
    for (const database of databases) await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Inserts two files of 3 chunks. */
  const givenMedia = async () => {
    const [team] = await service.query<{ id: string }>('SELECT id FROM teams LIMIT 1');
    for (const id of ['018f0000-0000-7000-8000-000000000001', service.runtime.ids.next('msg')]) {
      await service.query(
        `INSERT INTO media (message_id, file_id, team_id, name, type, created_at) VALUES ($1, 7, $2, 'a.png', 'image/png', $3)`,
        [id, team?.id, service.clock.now()],
      );
      for (const position of [0, 1, 2])
        await service.query('INSERT INTO media_chunks VALUES ($1, $2, 7, $3, $4)', [
          team?.id,
          id,
          position,
          randomBytes(262_144),
        ]);
    }
  };
  /** Sends a message of a test key, whose webhook gets its events. */
  const givenTestTraffic = async () => {
    const { api } = await newTestClient(service);
    await newWebhook(api, { events: ['message.sent', 'message.delivered'] });
    const id = await api.send({ from: testLine, to: '+15005550101', content: 'Hello' });
    await until('a test message is delivered, and its webhook is tried', async () => {
      const { json } = await api.get(`/v1/messages/${id}`);
      const attempts = await service.query(
        'SELECT FROM attempts JOIN test_teams t ON t.test_team_id = attempts.team_id',
      );
      return json.status === 'delivered' && attempts.length > 0;
    });
  };
  const backUp = async (passphrase?: string) => {
    const { stream, bytes } = memoryDestination();
    const { databaseUrl, dataDir, clock } = service;
    const result = await createBackup(
      { databaseUrl, dataDir, secretsKey, passphrase, serviceTime: () => clock.now() },
      stream,
    );
    assert.equal(result.bytes, bytes().length);
    return bytes();
  };
  const emptyDatabase = async () => {
    const database = await createEmptyDatabase();
    databases.push(database);
    return database.url;
  };
  const newFolder = () => mkdtemp(join(folder, 'data-'));
  const restore = async (
    bytes: Buffer,
    databaseUrl: string,
    options: { dataDir?: string; secretsKey?: Buffer; passphrase?: string } = {},
  ) =>
    restoreBackup(memorySource(bytes), {
      databaseUrl,
      config: { dataDir: options.dataDir ?? (await newFolder()), secretsKey: options.secretsKey },
      passphrase: options.passphrase,
      afterLoad: async () => undefined,
    });

  it('a backup has every table, row and sequence, and a restored database has them in the same order (§10.10/whole)', async () => {
    const databaseUrl = await emptyDatabase();
    const result = await restore(backup, databaseUrl);
    assert.equal(result.schema_version, schemaVersion);
    const content = await readDatabaseContent(databaseUrl);
    assert.deepEqual(content, await readDatabaseContent(service.databaseUrl));
    const filled = Object.values(content).filter((found) => !found.startsWith('0 '));
    assert.ok(filled.length > 30, `only ${filled.length} tables have rows`);
    assert.match(content.media_chunks ?? '', /^6 /);
    assert.match(content.test_teams ?? '', /^1 /);
  });

  it('a restore analyzes the tables with rows, and no table without: its plans would read all rows that come later (decision 0050)', async () => {
    const databaseUrl = await emptyDatabase();
    await restore(backup, databaseUrl);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    assert.deepEqual(await tablesAnalyzedEmpty(client), []);
    const { rows } = await client.query("SELECT FROM pg_class WHERE relname = 'messages' AND reltuples > 0");
    assert.equal(rows.length, 1);
    await client.end();
  });

  it('a restore writes secrets.key for its owner alone, and keeps an equal one (§10.10/restored-key)', async () => {
    const dataDir = await newFolder();
    await restore(backup, await emptyDatabase(), { dataDir });
    const file = join(dataDir, 'secrets.key');
    assert.equal((await readFile(file, 'utf8')).trim(), secretsKey.toString('base64'));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await restore(backup, await emptyDatabase(), { dataDir });
    const other = await newFolder();
    await restore(backup, await emptyDatabase(), { dataDir: other, secretsKey });
    await assert.rejects(stat(join(other, 'secrets.key')), /ENOENT/);
  });

  it('a restore is refused, without any write, if DATA_DIR has another secrets key (§10.10/restored-key)', async () => {
    const databaseUrl = await emptyDatabase();
    const dataDir = await newFolder();
    await writeFile(join(dataDir, 'secrets.key'), randomBytes(32).toString('base64'));
    await assert.rejects(
      restore(backup, databaseUrl, { dataDir }),
      /holds another key .* Move that file away/,
    );
    const other = { secretsKey: randomBytes(32) };
    await assert.rejects(restore(backup, databaseUrl, other), /SECRETS_KEY is another key .* Leave it out/);
    assert.equal(await hasTables(databaseUrl), false);
  });

  it('a restore into a database that is not empty is refused with advice (§10.10/empty-only)', async () => {
    await assert.rejects(
      restore(backup, service.databaseUrl),
      /not empty: the table \w+ has rows.* create a new database/,
    );
    const foreign = await emptyDatabase();
    const client = new pg.Client({ connectionString: foreign });
    await client.connect();
    await client.query('CREATE TABLE invoices (id int)');
    await client.end();
    await assert.rejects(restore(backup, foreign), /not empty: it has a table invoices/);
    const migrated = await emptyDatabase();
    await applySchema(migrated);
    await restore(backup, migrated);
    assert.deepEqual(await readDatabaseContent(migrated), await readDatabaseContent(service.databaseUrl));
  });

  it('a backup that is damaged at any byte is refused, and the database stays empty (§10.10/damage)', async () => {
    const databaseUrl = await emptyDatabase();
    for (let part = 1; part <= 4; part += 1) {
      const at = Math.floor((backup.length * part) / 4) - 1;
      const damaged = Buffer.from(backup);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      await assert.rejects(restore(damaged, databaseUrl), /The backup is damaged/, `byte ${at}`);
      await assert.rejects(
        restore(backup.subarray(0, at), databaseUrl),
        /damaged: it ends before its last byte/,
      );
    }
    await assert.rejects(
      restore(Buffer.concat([backup, backup]), databaseUrl),
      /bytes follow the end of the backup/,
    );
    assert.equal(await hasTables(databaseUrl), false);
    await restore(backup, databaseUrl);
  });

  it('a backup that another program made is refused with a sentence, and the database stays empty (§10.10/damage)', async () => {
    const databaseUrl = await emptyDatabase();
    const inManifest = (from: RegExp, to: string) => (record: BackupRecord) =>
      record.kind === 'manifest' ? Buffer.from(record.payload.toString().replace(from, to)) : record.payload;
    const changes = [
      inManifest(/"sequences":\[{"name":"\w+"/, '"sequences":[{"name":"no_such_sequence"'),
      (record: BackupRecord) =>
        record.kind === 'rows'
          ? Buffer.from(record.payload.toString('latin1').replace('\t', ''), 'latin1')
          : record.payload,
    ];
    for (const change of changes) {
      const changed = await rewriteBackup(backup, change);
      await assert.rejects(
        restore(changed, databaseUrl),
        (error) =>
          error instanceof BackupError && /The database refuses what is in the file/.test(error.message),
      );
    }
    assert.equal(await hasTables(databaseUrl), false);
  });

  it('a backup of which PostgreSQL loads fewer rows is refused, and the database stays empty (§10.10/damage)', async () => {
    const databaseUrl = await emptyDatabase();
    let isOfAccounts = false;
    const cut = await rewriteBackup(backup, ({ kind, payload }) => {
      if (kind === 'table') isOfAccounts = payload.toString() === '{"name":"accounts"}';
      if (kind === 'rows' && isOfAccounts) return Buffer.concat([Buffer.from('\\.\n'), payload]);
      if (kind !== 'summary') return payload;
      const { rows } = JSON.parse(payload.toString());
      return Buffer.from(JSON.stringify({ rows: { ...rows, accounts: rows.accounts + 1 } }));
    });
    await assert.rejects(
      restore(cut, databaseUrl),
      /damaged: the database loaded 0 of the \d+ rows in the file/,
    );
    assert.equal(await hasTables(databaseUrl), false);
  });

  it('a backup of a newer schema is refused with both versions, and the database stays empty (§10.10/older-schema)', async () => {
    const version = schemaVersion + 1;
    const newer = await rewriteBackup(backup, ({ payload }) => payload, { schema_version: version });
    const databaseUrl = await emptyDatabase();
    await assert.rejects(
      restore(newer, databaseUrl),
      new RegExp(`has schema version ${version}, made by Ownline .*; this release knows ${schemaVersion}\\.`),
    );
    assert.equal(await hasTables(databaseUrl), false);
  });

  it('a backup is refused while another backup runs (§10.10/one-at-a-time)', async () => {
    const other = await holdTransaction(service, 'SELECT pg_advisory_xact_lock($1)', [backupLock]);
    await assert.rejects(backUp(), /Another backup, restore or migration of this database is running/);
    await other.release();
    await backUp();
  });
});

describe('a backup beside the service (specification section 10.10)', () => {
  const runningSeconds = async (service: TestService) => {
    // The metric is cached for some seconds, so the clock is moved on.
    service.clock.advance(60_000);
    const headers = { authorization: 'Bearer example-metrics-token' };
    const { text } = await new ApiClient(service.baseUrl, '').request('GET', '/metrics', { headers });
    return Number(/^ownline_backup_running_seconds (\S+)$/m.exec(text)?.[1]);
  };

  it('no row of a backup is younger than its taken_at, which is read after the backup got its locks (§10.10/whole)', async () => {
    const service = await startTestService({ SECRETS_KEY: secretsKey.toString('base64'), ROLES: 'api' });
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    const lock = await holdTableLock(service, 'devices');
    const { databaseUrl, dataDir, clock } = service;
    const source = {
      databaseUrl,
      dataDir,
      secretsKey,
      passphrase: undefined,
      serviceTime: () => clock.now(),
    };
    const backup = createBackup(source, memoryDestination().stream);
    await lock.waiting(1);
    const id = await team.api.send({ from: number.phoneNumber, to: '+14155550142', content: 'meanwhile' });
    await lock.release();
    const { taken_at: takenAt } = await backup;
    const { created_at: createdAt } = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.ok(takenAt >= String(createdAt), `taken at ${takenAt}, and has a message of ${createdAt}`);
    await service.close();
  });

  it('a running backup delays no message, contains the state of its beginning, and is shown in `/metrics` (§10.10/beside-the-service, §10.10/running)', async () => {
    const service = await startTestService({
      SECRETS_KEY: secretsKey.toString('base64'),
      METRICS_TOKEN: 'example-metrics-token',
    });
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    const send = (content: string) =>
      team.api.send({ from: number.phoneNumber, to: '+14155550142', content });
    await send('before');
    const { databaseUrl, dataDir, clock } = service;
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
    const source = {
      databaseUrl,
      dataDir,
      secretsKey,
      passphrase: undefined,
      serviceTime: () => clock.now(),
    };
    const backup = createBackup(source, slow);
    await begun.promise;
    await send('meanwhile');
    const { id = '' } = await number.wire.poll();
    await number.wire.poll({ last: id });
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    await receive(number, '+14155550142', 'An answer');
    assert.ok((await runningSeconds(service)) > 0);
    release.resolve();
    await backup;
    await until('the backup has ended', async () => (await runningSeconds(service)) === 0);
    const restored = await createEmptyDatabase();
    await restoreBackup(memorySource(Buffer.concat(parts)), {
      databaseUrl: restored.url,
      config: { dataDir, secretsKey },
      passphrase: undefined,
      afterLoad: async () => undefined,
    });
    const client = new pg.Client({ connectionString: restored.url });
    await client.connect();
    const { rows } = await client.query('SELECT content, status FROM messages');
    assert.deepEqual(rows, [{ content: 'before', status: 'queued' }]);
    await client.end();
    await restored.close();
    await service.close();
  });
});
