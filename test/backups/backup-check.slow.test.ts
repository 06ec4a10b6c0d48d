import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
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
import { canMountDisk, makeSmallDisk } from '#test/support/processes/small-disk.ts';
import { givenFolder } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

const day = 86_400_000;

describe('the check of a nightly backup (specification section 10.10)', () => {
  const folder = givenFolder();
  const { service, team } = givenTeam({ ROLES: 'api', SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') });

  const hasScratch = () => hasScratchDatabase(service.databaseUrl);
  const lines: string[] = [];
  /** Makes a nightly backup as the service with the embedded PostgreSQL does, or with the given settings. */
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

  it('a nightly backup of the database at DATABASE_URL is not loaded, and the result says so', async () => {
    const { databaseUrl } = service;
    const run = await runOnce(nightly({ databaseUrl }));
    assert.match(
      String(run?.unproved),
      /^It was not loaded into a database, because .* DATABASE_URL is set\.$/,
    );
    assert.match(lines.join(''), /"unproved":"It was not loaded/);
  });

  it('a nightly backup is not loaded if the disk has too little space, and the result names the space that a load takes', {
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

  it('a nightly backup whose data a restore would refuse fails, and leaves no file and no scratch database', async () => {
    const before = await readdir(folder);
    await withBrokenRule(service, async () => {
      const run = await runOnce(nightly());
      assert.match(String(run?.error), /a restore would refuse it.*a test team has the test line/);
    });
    assert.deepEqual(await readdir(folder), before);
  });

  it('the duration of a running backup includes the load of its check into another database', async () => {
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
