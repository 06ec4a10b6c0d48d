import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import pg from 'pg';
import { checkDatabase } from '#server/cli/doctor/check-database.ts';
import { Database } from '#server/database/database.ts';
import { createWriteErrorMapper, withDatabaseErrors } from '#server/database/database-errors.ts';
import { NotificationListener } from '#server/database/listener.ts';
import { AppError } from '#server/platform/app-error.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { startDatabasePair } from '#test/support/database/database-pair.ts';
import { startMovingProxy } from '#test/support/proxies/moving-proxy.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const logger = createLogger('silent');
const olderCopy =
  /leads to an older copy of the database \(timeline 1, and 2 was seen\).* Stop that PostgreSQL/;

describe('a former primary that comes back (specification section 10.4)', () => {
  const dataDir = givenFolder('ownline-timeline-');
  const folder = givenFolder('ownline-pair-');
  const pair = given(() => startDatabasePair(folder));
  const proxy = given(startMovingProxy);
  const toOlder = () => proxy.leadTo(pair.olderSocket);
  const toNewer = () => proxy.leadTo(pair.newerSocket);
  /** By default no timeline is kept, because the folder is missing. */
  const connect = (dir = join(dataDir, 'missing')) =>
    new Database({ databaseUrl: proxy.url, logger, dataDir: dir });

  it('each connection to an older copy is refused with 503, and counted; a listener is refused as well', async (t) => {
    toNewer();
    const database = connect();
    t.after(() => database.close());
    await database.followTimeline();
    assert.equal(database.timeline.highest, 2);
    toOlder();
    const refusal = await database.hot.query('SELECT').catch((error: unknown) => error);
    assert.ok(refusal instanceof AppError && refusal.status === 503);
    const explain = createWriteErrorMapper({ databaseUrl: proxy.url, dataDir }, new Clock());
    const explained = explain(refusal);
    assert.ok(explained instanceof AppError && explained.headers['retry-after'] === '2');
    assert.match(explained.message, olderCopy);
    await assert.rejects(new NotificationListener(proxy.url, logger, database).start(), olderCopy);
    assert.equal(database.timeline.refusals, 2);
    toNewer();
    await database.hot.query('SELECT');
  });

  it('the first connection to a newer copy ends the idle ones to the older copy', async (t) => {
    toOlder();
    const database = connect();
    t.after(() => database.close());
    await database.pool.query('SELECT');
    toNewer();
    await database.hot.query('SELECT');
    const { rows } = await database.pool
      .query('SELECT pg_walfile_name(pg_current_wal_lsn()) AS file')
      .catch(() => database.pool.query('SELECT pg_walfile_name(pg_current_wal_lsn()) AS file'));
    assert.match(rows[0].file, /^00000002/);
  });

  it('a process whose connections are all idle notices a newer copy', async (t) => {
    toOlder();
    const database = connect();
    t.after(() => database.close());
    await database.pool.query('SELECT');
    toNewer();
    await database.followTimeline();
    assert.equal(database.timeline.highest, 2);
  });

  it('/readyz and ownline doctor name an older copy, and a start on it changes nothing', async (t) => {
    toNewer();
    // The first start of all makes its DATA_DIR for the API key; this one has no other reason.
    const settings = { DATABASE_URL: proxy.url, SECRETS_KEY: randomBytes(32).toString('base64') };
    await (await startTestService(settings)).close();
    const DATA_DIR = join(dataDir, 'of-another-process');
    const service = await startTestService({ ...settings, DATA_DIR });
    t.after(() => service.close());
    t.after(toNewer);
    toOlder();
    proxy.cut();
    const message = await until('/readyz refuses', async () => {
      service.clock.advance(1_001);
      const answer = await fetch(`${service.baseUrl}/readyz`);
      const { error } = (await answer.json()) as { error?: { message: string } };
      return answer.status === 503 && olderCopy.test(error?.message ?? '') && error?.message;
    });
    assert.match(message, olderCopy);
    const { checks } = await checkDatabase(service.runtime.config);
    assert.partialDeepStrictEqual(checks[0], { name: 'database', state: 'failed' });
    assert.match(checks[0]?.message ?? '', olderCopy);
    await assert.rejects(startTestService({ ...settings, DATA_DIR }), olderCopy);
  });

  it('a restarted process refuses the older copy, until its operator removes timeline.json', async () => {
    const follow = async () => {
      const database = connect(dataDir);
      try {
        await withDatabaseErrors(proxy.url, () => database.followTimeline());
      } finally {
        await database.close();
      }
    };
    toNewer();
    await follow();
    const file = join(dataDir, 'timeline.json');
    assert.equal(JSON.parse(await readFile(file, 'utf8')).timeline, 2);
    toOlder();
    await assert.rejects(
      follow(),
      (error) => error instanceof StartError && /remove timeline\.json from DATA_DIR/.test(error.message),
    );
    await rm(file);
    await follow();
    assert.equal(JSON.parse(await readFile(file, 'utf8')).timeline, 1);
  });

  it('a role that may not read the timeline uses the database without the check', async (t) => {
    toOlder();
    const superuser = new pg.Client({
      host: pair.olderSocket,
      user: 'postgres',
      database: 'ownline',
    });
    await superuser.connect();
    t.after(() => superuser.end());
    await superuser.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    const database = connect();
    t.after(() => database.close());
    await database.followTimeline();
    assert.equal(database.timeline.highest, 0);
  });
});
