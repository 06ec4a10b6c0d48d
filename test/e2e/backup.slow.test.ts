import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { processesOf } from '#campaign/stops/processes.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { commandFailpoints } from '#server/platform/failpoint.ts';
import { countBackupSessions, untilRestoring } from '#test/support/backups/backup-sessions.ts';
import { hasTables, readDatabaseContent } from '#test/support/database/database-content.ts';
import { dropTableComments } from '#test/support/database/drop-table-comments.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { canMountDisk, makeSmallDisk } from '#test/support/processes/small-disk.ts';
import { firstKey, type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';

/** Tables that a restore changes, so that no message or mail is sent twice (specification section 10.8). */
const changedByRestore = new Set([
  ...['event_feed_position', 'feed_removals', 'account_sessions', 'magic_links', 'passkey_challenges'],
  ...['device_sessions', 'in_flight', 'media_fetches', 'due_deliveries', 'mails', 'simulated_phones'],
  ...['holds', 'backups'],
]);

const from = '+14155550100';
const signedFiles = [
  ['Ownline Outbox.shortcut', 'AEA1 signed'],
  ['27/Ownline Outbox.shortcut', 'AEA1 signed for iOS 27'],
] as const;
/** Random text, which does not compress, so that the first half of the backup has rows. */
const longText = () => randomBytes(3_750).toString('base64');

describe('ownline backup and ownline restore (specification section 10.10)', () => {
  let folder: string;
  let service: SpawnedService;
  let dataDir: string;
  let key: string;
  let backup: string;
  const databases: TestDatabase[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ownline-backups-'));
    await chmod(folder, 0o711);
    dataDir = join(folder, 'data');
    service = await spawnService({
      settings: { DATA_DIR: dataDir, LOG_LEVEL: 'error', DEVICE_HOLD_SECONDS: '1' },
    });
    key = await firstKey(dataDir);
    const api = new ApiClient(service.baseUrl, key);
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    await (await claim(api, String(verify.json.setup_url))).poll();
    for (let sent = 0; sent < 150; sent += 1)
      await api.send({ from, to: '+14155550101', content: longText() });
    await mkdir(join(dataDir, 'shortcuts/27'), { recursive: true });
    for (const [name, bytes] of signedFiles) await writeFile(join(dataDir, 'shortcuts', name), bytes);
    backup = join(folder, 'first.backup');
    await commands().json('backup', backup);
  });
  after(async () => {
    await service.kill('SIGTERM');
    for (const database of databases) await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const commands = (of = dataDir, settings: Readonly<Record<string, string>> = {}) =>
    new CommandLine(of, { LOG_LEVEL: 'error', ...settings });
  const emptyDatabase = async () => {
    const database = await createEmptyDatabase();
    databases.push(database);
    return database.url;
  };
  const newFolder = () => mkdtemp(join(folder, 'new-'));
  const comparable = async (url: string) =>
    Object.fromEntries(
      Object.entries(await readDatabaseContent(url)).filter(([name]) => !changedByRestore.has(name)),
    );

  it('a backup moves all data from the embedded PostgreSQL to the database at DATABASE_URL, and back (§10.10/other-engine)', async () => {
    const databaseUrl = await emptyDatabase();
    const middle = await newFolder();
    const own = commands(middle, { DATABASE_URL: databaseUrl });
    const restored = await own.json('restore', backup);
    assert.deepEqual([restored.restored, restored.rows > 5], [true, true]);
    const second = join(folder, 'second.backup');
    await own.json('backup', second);
    const end = join(folder, 'end');
    await commands(end).json('restore', second);
    const back = await spawnService({ settings: { DATA_DIR: end, LOG_LEVEL: 'error' } });
    try {
      const urls = await Promise.all(
        [dataDir, end].map(async (of) => (await commands(of).json('database-url')).database_url),
      );
      const [first, last] = await Promise.all(urls.map(comparable));
      assert.deepEqual(last, await comparable(databaseUrl));
      // The last use of the key was recorded after the backup, and a restore holds the queue.
      const changed = { api_keys: '', send_queue: '' };
      assert.deepEqual({ ...last, ...changed }, { ...first, ...changed });
      const { json } = await new ApiClient(back.baseUrl, key).get('/v1/numbers');
      assertEach(json.numbers as { phone_number: string }[], ({ phone_number }) => phone_number, [from]);
      const keys = await Promise.all([dataDir, end].map((of) => readFile(join(of, 'secrets.key'), 'utf8')));
      assert.equal(keys[0], keys[1]);
      for (const [name, bytes] of signedFiles)
        assert.equal(await readFile(join(end, 'shortcuts', name), 'utf8'), bytes);
    } finally {
      await back.kill('SIGTERM');
    }
  });

  it('a backup is readable by its owner only, replaces no file, can be verified, and warns if it is not encrypted (§10.10/complete-or-absent)', async () => {
    assert.equal((await stat(backup)).mode & 0o777, 0o600);
    const again = await commands().run(['backup', backup]);
    assert.equal(again.code, 1);
    assert.match(again.errors, /first\.backup exists already, and a backup never replaces a file/);
    const { output, errors, code } = await commands().run(['backup', '--verify', backup]);
    assert.equal(code, 0, errors);
    assert.match(output, /verified +true/);
    const unencrypted = await commands().run(['backup', join(folder, 'other.backup')]);
    assert.match(unencrypted.errors, /not encrypted, and the secrets key is in it/);
    const inRoot = await commands().run(['backup', '/proc/no-such-folder/a.backup']);
    assert.equal(inRoot.code, 1);
    assert.match(
      inRoot.errors,
      /can't be written to \/proc\/no-such-folder\/a\.backup: there is no folder \/proc\/no-such-folder\. Make it/,
    );
  });

  it('a database without comments on its tables is backed up, verified and restored, loses its demo, and doctor finds nothing (§10.10/whole)', async () => {
    const dataFolder = await newFolder();
    const own = commands(dataFolder);
    const file = join(folder, 'bare.backup');
    await own.json('restore', backup);
    const bare = await spawnService({ settings: { DATA_DIR: dataFolder, LOG_LEVEL: 'error' } });
    try {
      await dropTableComments((await own.json('database-url')).database_url);
      const { held, waiting } = await own.json('restore', '--status');
      assert.deepEqual([held, waiting], [true, { messages: 150, deliveries: 0, mails: 0 }]);
      const shown = await own.run(['restore', '--status']);
      assert.match(
        shown.output,
        /^Restored from the backup of .+\. 150 messages, .* wait from it: `ownline restore --resume`/,
      );
      const resume = () => own.json('restore', '--resume');
      assert.deepEqual([(await resume()).resumed, (await resume()).resumed], [true, false]);
      assert.equal((await own.json('restore', '--status')).held, false);
      await own.json('demo');
      const { rows } = await own.json('backup', file);
      assert.equal((await own.json('backup', '--verify', file)).loaded, true);
      const other = commands(await newFolder(), { DATABASE_URL: await emptyDatabase() });
      assert.equal((await other.json('restore', file)).rows, rows);
      assert.equal((await own.json('demo', '--remove')).removed, true);
      const { code, output } = await own.run(['doctor', '--quick'], { PORT: new URL(bare.baseUrl).port });
      assert.equal(code, 0, output);
    } finally {
      await bare.kill('SIGTERM');
    }
  });

  it('--verify loads a backup into a scratch database of the running embedded PostgreSQL, and says what the check does not cover', async () => {
    const verified = await commands().json('backup', '--verify', backup);
    assert.deepEqual([verified.verified, verified.loaded, verified.not_proved], [true, true, null]);
    const elsewhere = commands(await newFolder());
    const unloaded = async (own: CommandLine, why: RegExp) => {
      const { loaded, not_proved: notProved } = await own.json('backup', '--verify', backup);
      assert.equal(loaded, false);
      assert.match(String(notProved), why);
    };
    await unloaded(
      elsewhere,
      /^It was not loaded into a database, because no embedded PostgreSQL .* is running in DATA_DIR/,
    );
    await unloaded(commands(dataDir, { DATABASE_URL: await emptyDatabase() }), /DATABASE_URL is set/);
  });

  it('a backup onto a full disk fails with the disk and path in its error, and leaves no file (§10.10/complete-or-absent)', {
    skip: !canMountDisk() && 'only root of a Linux machine may mount a small file system',
  }, async () => {
    const disk = await makeSmallDisk(join(folder, 'disk'), 1);
    try {
      await disk.fill();
      const { code, errors } = await commands().run(['backup', join(disk.seenFromHere, 'a.backup')]);
      assert.equal(code, 1);
      assert.match(errors, /can't be written to \S+a\.backup: its disk is full \(ENOSPC\)/);
      assert.deepEqual((await readdir(disk.seenFromHere)).sort(), ['filler', 'mounted']);
      await disk.free();
      await commands().json('backup', join(disk.seenFromHere, 'a.backup'));
    } finally {
      disk.remove();
    }
  });

  it('a backup with an empty passphrase file is refused, and an encrypted one opens with its passphrase only (§10.10/passphrase)', async () => {
    const file = join(folder, 'passphrase');
    await writeFile(file, '\n');
    const sealed = join(folder, 'sealed.backup');
    const empty = await commands().run(['backup', sealed, '--passphrase-file', file]);
    assert.match(empty.errors, /^The passphrase file \S+ is empty/);
    await writeFile(file, 'correct horse battery staple\n');
    assert.equal((await commands().json('backup', sealed, '--passphrase-file', file)).encrypted, true);
    assert.match((await commands().run(['backup', '--verify', sealed])).errors, /The backup is encrypted/);
    const verified = await commands().json('backup', '--verify', sealed, '--passphrase-file', file);
    assert.equal(verified.verified, true);
  });

  for (const point of commandFailpoints.filter((name) => name.startsWith('backup '))) {
    it(`a backup that is killed (${point}) leaves no file under its name, and the next backup succeeds (§10.10/complete-or-absent)`, async () => {
      const file = join(await newFolder(), 'a.backup');
      const killed = await commands().run(['backup', file], { FAILPOINT: point });
      assert.notEqual(killed.code, 0);
      await assert.rejects(stat(file), /ENOENT/);
      assert.equal((await commands().json('backup', file)).file, file);
      const [made, left = '', ...others] = (await readdir(join(file, '..'))).sort();
      assert.equal(made, 'a.backup');
      assert.match(left, /^a\.backup\.[0-9a-f]{8}\.partial$/);
      assert.deepEqual(others, []);
    });
  }

  for (const point of commandFailpoints.filter((name) => name.startsWith('restore '))) {
    it(`a restore that is killed (${point}) leaves an empty or a completely restored database (§10.10/one-transaction)`, async () => {
      const databaseUrl = await emptyDatabase();
      const own = commands(await newFolder(), { DATABASE_URL: databaseUrl });
      const killed = await own.run(['restore', backup], { FAILPOINT: point });
      assert.notEqual(killed.code, 0);
      if (point === 'restore committed') {
        assert.match((await own.run(['restore', backup])).errors, /The database is not empty/);
      } else {
        assert.equal(await hasTables(databaseUrl), false);
        if (point === 'restore before commit') await own.json('restore', backup);
      }
      if (await hasTables(databaseUrl)) assert.equal((await own.json('team', 'list')).length, 1);
    });
  }

  it('the next restore takes over and then stops the embedded PostgreSQL that a killed restore left running (§10.10/interrupted)', async () => {
    const target = join(folder, 'killed');
    const killed = await commands(target).run(['restore', backup], { FAILPOINT: 'restore rows loaded' });
    assert.notEqual(killed.code, 0);
    assert.notDeepEqual(processesOf(target), []);
    assert.equal((await commands(target).json('restore', backup)).restored, true);
    assert.deepEqual(processesOf(target), []);
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`a backup that ${signal} interrupts says so, leaves no file and exits with ${code} (§10.10/interrupted)`, async () => {
      const own = await newFolder();
      const lock = await holdTableLock({ databaseUrl: await findEngineUrl(dataDir) }, 'devices');
      const running = commands().start(['backup', join(own, 'a.backup')]);
      await until('the backup has begun', async () => (await readdir(own)).length === 1);
      running.child.kill(signal);
      const ended = await running.ended;
      await lock.release();
      assert.deepEqual([ended.code, ended.output], [code, '']);
      assert.equal(
        ended.errors,
        `Interrupted by ${signal}: no backup was written, and no partial file remains. Run the backup again.\n`,
      );
      assert.deepEqual(await readdir(own), []);
    });
  }

  for (const [signal, code, engine] of [
    ['SIGINT', 130, 'embedded PostgreSQL'],
    ['SIGTERM', 143, 'PostgreSQL of DATABASE_URL'],
  ] as const) {
    it(`a restore into the ${engine} that ${signal} interrupts says so, and leaves the database empty (§10.10/interrupted)`, async () => {
      const target = join(folder, `restored-${code}`);
      const databaseUrl = code === 130 ? undefined : await emptyDatabase();
      const own = commands(target, databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl });
      const running = own.start(['restore', '-']);
      const bytes = await readFile(backup);
      running.child.stdin?.write(bytes.subarray(0, bytes.length / 2));
      await untilRestoring(async () => databaseUrl ?? findEngineUrl(target));
      running.child.kill(signal);
      const ended = await running.ended;
      assert.match(
        ended.errors,
        new RegExp(`^Interrupted by ${signal}: nothing was restored, and the database is as empty`),
      );
      assert.equal(ended.code, code);
      if (databaseUrl === undefined) assert.deepEqual(processesOf(target), []);
      else
        assert.deepEqual([await hasTables(databaseUrl), await countBackupSessions(databaseUrl)], [false, 0]);
      assert.equal((await own.json('restore', backup)).restored, true);
    });
  }
});
