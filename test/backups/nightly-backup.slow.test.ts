import assert from 'node:assert/strict';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { readLastBackups, readRunningSeconds } from '#server/backups/archive/backups-store.ts';
import { NightlyBackup } from '#server/backups/nightly-backup.ts';
import {
  hasScratchDatabase,
  holdCheckSession,
  leaveScratchDatabase,
  withBrokenRule,
} from '#test/support/backups/scratch-database.ts';
import { holdBackupLock } from '#test/support/database/row-lock.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { canMountDisk, makeSmallDisk } from '#test/support/processes/small-disk.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const day = 86_400_000;

describe('the nightly backup (specification section 10.10)', () => {
  const folder = givenFolder('ownline-nightly-');
  const backups = join(folder, 'backups');
  const passphrase = join(folder, 'passphrase');
  const service = given(async () => {
    await mkdir(backups);
    await writeFile(passphrase, 'correct horse');
    return startTestService({
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'ownline@example.com',
      OPERATOR_EMAIL: 'ops@example.com, night@example.com',
      BACKUP_PASSPHRASE_FILE: passphrase,
      // Without the process role `maintain` no backup starts by itself: the test starts each round.
      ROLES: 'api',
      BACKUP_DIR: backups,
      BACKUP_KEEP: '2',
    });
  });
  const nightly = given(
    () => new NightlyBackup(service.runtime, service.databaseUrl),
    (backup) => backup.stop(),
  );

  const round = async () => {
    await nightly.round();
    await nightly.finished();
  };
  const files = async () => (await readdir(backups)).filter((name) => name.startsWith('ownline-')).sort();
  const mails = async () => (await storedMails(service)).map(({ recipient }) => recipient).sort();
  const lastError = async () => (await readLastBackups(service.runtime.database.pool)).latest?.error;

  it('the first nightly backup is made at once, is encrypted, and is readable by its owner only', async () => {
    await round();
    const [name = ''] = await files();
    assert.match(name, /^ownline-[0-9a-f]{8}-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/);
    assert.equal((await stat(join(backups, name))).mode & 0o777, 0o600);
    const commands = new CommandLine(folder);
    const verified = await commands.json(
      ...['backup', '--verify', join(backups, name), '--passphrase-file', passphrase],
    );
    assert.deepEqual([verified.verified, verified.encrypted], [true, true]);
    await round();
    assert.equal((await files()).length, 1, 'it is not due again');
  });

  it('a nightly backup that has to wait for another backup does not count as a failure (§10.10/one-at-a-time)', async () => {
    service.clock.advance(day + 3 * 3_600_000);
    const other = await holdBackupLock(service);
    await round();
    assert.equal(await lastError(), null);
    assert.equal((await files()).length, 1);
    await other.release();
    await round();
    assert.equal((await files()).length, 2);
  });

  it('the nightly backup keeps its newest BACKUP_KEEP files, and deletes no file of other programs', async () => {
    const [oldest = '', newer = ''] = await files();
    const foreign = oldest.replace(/ownline-\w{8}/, 'ownline-00000000');
    const abandoned = `${oldest}.0a1b2c3d.partial`;
    for (const name of ['notes.txt', foreign, abandoned]) await writeFile(join(backups, name), 'kept');
    await utimes(join(backups, abandoned), new Date(0), new Date(0));
    service.clock.advance(day + 3 * 3_600_000);
    await round();
    const left = await readdir(backups);
    assert.equal(left.includes(oldest), false);
    assert.equal(left.includes(abandoned), false);
    assert.ok(
      [newer, foreign, 'notes.txt'].every((name) => left.includes(name)),
      left.join(),
    );
    assert.equal(left.length, 4);
    await rm(join(backups, foreign));
  });

  it('the operators get a mail when backups begin to fail and when they work again, and failures delete no older backup', async () => {
    const before = await files();
    await rm(passphrase);
    const abandoned = join(backups, `${before[0]}.0a1b2c3d.partial`);
    await writeFile(abandoned, 'of a killed backup');
    await utimes(abandoned, new Date(0), new Date(0));
    service.clock.advance(day + 3 * 3_600_000);
    await round();
    assert.equal(typeof (await lastError()), 'string');
    assert.deepEqual(await mails(), ['night@example.com', 'ops@example.com']);
    await round();
    service.clock.advance(1_800_000);
    await round();
    assert.equal((await mails()).length, 2, 'the second failure in a row is not mailed');
    assert.deepEqual(await files(), before);
    await writeFile(passphrase, 'correct horse');
    service.clock.advance(1_800_000);
    await round();
    assert.equal(await lastError(), null);
    assert.equal((await mails()).length, 4);
    assert.equal((await files()).length, 2);
  });

  it('a nightly backup into a folder that does not exist logs what to do in one line, without a stack', async () => {
    const missing = join(folder, 'none');
    const { runtime } = service;
    const backup = { folder: missing, keep: 2, passphraseFile: undefined };
    const lines: string[] = [];
    const logger = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) });
    const another = new NightlyBackup(
      { ...runtime, logger, config: { ...runtime.config, backup } },
      service.databaseUrl,
    );
    service.clock.advance(day + 3 * 3_600_000);
    await another.round();
    await another.finished();
    assert.equal(lines.length, 1, lines.join(''));
    const { reason, stack } = JSON.parse(lines[0] ?? '') as { reason: string; stack?: string };
    assert.equal(stack, undefined);
    assert.match(reason, /: there is no folder \S+\/none\. Make it, or choose another path\. /);
    await rm(missing, { recursive: true, force: true });
    service.clock.advance(1_800_000);
    await round();
    assert.equal(await lastError(), null);
  });

  it('a stop of the service ends the backup without leaving a file under its final name', async () => {
    const before = await files();
    service.clock.advance(day + 3 * 3_600_000);
    const another = new NightlyBackup(service.runtime, service.databaseUrl);
    await another.round();
    await another.stop();
    assert.deepEqual(
      (await files()).filter((name) => name.endsWith('.backup')),
      before,
    );
  });
});

describe('the check of a nightly backup (specification section 10.10)', () => {
  const folder = givenFolder();
  const { service, team } = givenTeam({ ROLES: 'api', SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') });

  const hasScratch = () => hasScratchDatabase(service.databaseUrl);
  const lines: string[] = [];
  /** A nightly backup as the service with the embedded PostgreSQL runs it, or with the given settings. */
  const nightly = (changed: { databaseUrl?: string; dataDir?: string } = {}) => {
    const log = new PassThrough();
    log.on('data', (line) => lines.push(String(line)));
    const { config } = service.runtime;
    return new NightlyBackup(
      {
        ...service.runtime,
        logger: pino({ level: 'info' }, log),
        config: {
          ...{ ...config, databaseUrl: undefined, dataDir: service.dataDir, ...changed },
          backup: { folder, keep: 7, passphraseFile: undefined },
        },
      },
      service.databaseUrl,
    );
  };
  const runOnce = async (backup: NightlyBackup) => {
    service.clock.advance(day + 3 * 3_600_000);
    await backup.round();
    await backup.finished();
    const { latest } = await readLastBackups(service.runtime.database.pool);
    assert.equal(await hasScratch(), false);
    return latest;
  };

  it('a nightly backup is loaded into a scratch database, which is dropped afterwards', async () => {
    await newTestClient(service, { team });
    const run = await runOnce(nightly());
    assert.deepEqual([run?.error, run?.unproved], [null, null]);
    assert.match(lines.join(''), /read back and loaded into an empty database/);
  });

  it('a nightly backup of DATABASE_URL says that it was not loaded', async () => {
    const { databaseUrl } = service;
    const run = await runOnce(nightly({ databaseUrl }));
    assert.match(
      String(run?.unproved),
      /^It was not loaded into a database, because .* DATABASE_URL is set\.$/,
    );
    assert.match(lines.join(''), /"unproved":"It was not loaded/);
  });

  it('a nightly backup is not loaded if the disk has too little space, and says how much it takes', {
    skip: !canMountDisk(),
  }, async () => {
    await mkdir(join(folder, 'disk'));
    const disk = await makeSmallDisk(join(folder, 'disk'), 64);
    try {
      const run = await runOnce(nightly({ dataDir: disk.seenFromHere }));
      assert.match(String(run?.unproved), /DATA_DIR has \d+ MB free, and loading it takes 3\d\d MB\.$/);
    } finally {
      disk.remove();
    }
  });

  it('a nightly backup that a restore would refuse fails, and leaves no file and no scratch database', async () => {
    const before = await readdir(folder);
    await withBrokenRule(service, async () => {
      const run = await runOnce(nightly());
      assert.match(String(run?.error), /a restore would refuse it.*a test team has the test line/);
    });
    assert.deepEqual(await readdir(folder), before);
  });

  it('the time of a running backup counts a check in another database of the server', async () => {
    const { pool } = service.runtime.database;
    assert.equal(await readRunningSeconds(pool), 0);
    const check = await holdCheckSession();
    assert.ok((await readRunningSeconds(pool)) > 0);
    await check.release();
  });

  it('the first round after a start drops the scratch database of a killed check', async () => {
    await leaveScratchDatabase(service.databaseUrl);
    await nightly().round();
    assert.equal(await hasScratch(), false);
  });

  it('a stop of the service ends the load and drops the scratch database', async () => {
    service.clock.advance(day + 3 * 3_600_000);
    const backup = nightly();
    await backup.round();
    await until('the load has begun', hasScratch);
    await backup.stop();
    assert.equal(await hasScratch(), false);
  });
});
