import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { holdSchemaLock } from '#test/support/database/row-lock.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { firstKey, killGroup, launchService, spawnService } from '#test/support/processes/spawned-service.ts';
import { processesOf } from '#test/support/runner/processes-of.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';

/** Finds processes by their folder, on Linux only. */
const processesLeft = (dataDir: string) => (process.platform === 'linux' ? processesOf(dataDir) : []);

/** Every way to stop `npm start`, also in its first start, is a run of `npm run campaign -- stops`. */
describe('a stop of the service (specification section 10.3)', () => {
  let parent: string;
  let dataDir: string;

  before(async () => {
    parent = await realpath(await mkdtemp(join(tmpdir(), 'ownline-stop-')));
    // The mode lets PostgreSQL's user enter the folder.
    await chmod(parent, 0o711);
    dataDir = join(parent, 'data');
    // The hold is short, because the poll that verifies the number is held for this time.
    const service = await spawnService({ settings: { DATA_DIR: dataDir, DEVICE_HOLD_SECONDS: '1' } });
    const api = new ApiClient(service.baseUrl, await firstKey(dataDir));
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const phone = await claim(api, String(verify.json.setup_url));
    await phone.poll();
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
  });
  after(async () => {
    for (const line of processesLeft(parent)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await rm(parent, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Starts the service, and a send that is in progress until `release` is called. */
  async function startWithSend(command?: readonly [string, ...string[]]) {
    const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'info' };
    const service = await spawnService({ settings, ownGroup: true, ...(command && { command }) });
    const api = new ApiClient(service.baseUrl, await firstKey(dataDir));
    const inserts = await holdInserts({ databaseUrl: await findEngineUrl(dataDir) }, 'send_queue');
    const answer = api.post('/v1/messages/send', { from, to: '+14155550101', content: 'Hello' });
    answer.catch(() => undefined);
    await inserts.waiting(1);
    return { service, answer, release: inserts.end };
  }
  const assertAllEnded = async () => {
    await until('every process has ended', () => processesLeft(dataDir).length === 0);
    assert.ok(!existsSync(join(dataDir, 'pg', 'postmaster.pid')));
  };

  it('SIGINT to npm start’s process group finishes work in progress, exits 0 and leaves no process', async () => {
    const { service, answer, release } = await startWithSend(['npm', 'start']);
    killGroup(service.child, 'SIGINT');
    await until('the service stops', () =>
      service.log().includes('stopping: finishing requests and work in progress'),
    );
    await release();
    assert.equal((await answer).status, 202);
    assert.equal(await service.ended, 0, service.output());
    await assertAllEnded();
  });

  it('signals within a second count as one, and a signal after that second stops PostgreSQL and exits at once with 1', async () => {
    const { service, answer, release } = await startWithSend();
    const startedMs = performance.now();
    const sending = new AbortController();
    service.child.once('exit', () => sending.abort());
    while (!sending.signal.aborted) {
      service.child.kill('SIGTERM');
      await pause(100, undefined, { signal: sending.signal }).catch(() => undefined);
    }
    const tookMs = performance.now() - startedMs;
    // The lock's connection ended with PostgreSQL, so its release fails.
    await release().catch(() => undefined);
    assert.ok(tookMs >= 1_000, `it ended after ${tookMs} ms`);
    assert.equal(await service.ended, 1, service.output());
    await assertAllEnded();
    await assert.rejects(answer);
  });

  it('a process that waits for another process to create the schema ends its wait on SIGTERM and exits 0', async () => {
    const database = await createTestDatabase();
    const lock = await holdSchemaLock({ databaseUrl: database.url });
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(parent, 'migrating') };
    const service = await launchService({ settings });
    await lock.waiting(1);
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    await lock.release();
    await database.close();
  });
});
