import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { holdSchemaLock } from '#test/support/database/row-lock.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import {
  firstKey,
  killGroup,
  launchService,
  type SpawnedService,
  spawnService,
} from '#test/support/processes/spawned-service.ts';
import { processesOf } from '#test/support/runner/processes-of.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+14155550101';
const npmStart = ['npm', 'start'] as const;

/**
 * Asserts that no process of the service, npm or PostgreSQL is left. Finding them by their folder works on Linux
 * only.
 */
const noProcessIsLeft = (dataDir: string) => {
  if (process.platform === 'linux') assert.deepEqual(processesOf(dataDir), []);
};

/** Makes a folder that PostgreSQL's user can enter. */
async function makeParent(): Promise<string> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'ownline-stop-')));
  await chmod(parent, 0o711);
  return parent;
}

/** Removes the folder, and kills processes that a failed test left running. */
async function removeParent(parent: string): Promise<void> {
  if (process.platform === 'linux')
    for (const line of processesOf(parent)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  await rm(parent, { recursive: true, force: true, maxRetries: 10 });
}

describe('a stop of the service (specification section 10.3)', () => {
  let parent: string;
  let dataDir: string;
  let service: SpawnedService;
  let api: ApiClient;

  before(async () => {
    parent = await makeParent();
    dataDir = join(parent, 'data');
    // The hold is short, because the poll that verifies the number is held for this time.
    service = await spawnService({ settings: { DATA_DIR: dataDir, DEVICE_HOLD_SECONDS: '1' } });
    api = new ApiClient(service.baseUrl, await firstKey(dataDir));
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const phone = await claim(api, String(verify.json.setup_url));
    await phone.poll();
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
  });
  after(() => removeParent(parent));

  const start = async (options: { command?: readonly [string, ...string[]] } = {}) => {
    service = await spawnService({
      settings: { DATA_DIR: dataDir, LOG_LEVEL: 'info' },
      ownGroup: true,
      ...options,
    });
    api = new ApiClient(service.baseUrl, await firstKey(dataDir));
  };
  /** Starts a send that is in progress until `release` is called. */
  const holdSend = async () => {
    const inserts = await holdInserts({ databaseUrl: await findEngineUrl(dataDir) }, 'send_queue');
    const answer = api.post('/v1/messages/send', { from, to, content: 'Hello' });
    answer.catch(() => undefined);
    await inserts.waiting(1);
    return { answer, release: inserts.end };
  };
  const isStopping = () =>
    until('the service stops', () =>
      service.log().includes('stopping: finishing requests and work in progress'),
    );

  // A terminal's Ctrl-C signals the whole group and npm forwards it, so the service gets each signal twice.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`${signal} to npm start’s process group finishes work in progress, exits 0 and leaves no process`, async () => {
      await start({ command: npmStart });
      const held = await holdSend();
      killGroup(service.child, signal);
      await isStopping();
      await held.release();
      assert.equal((await held.answer).status, 202);
      const end = await service.ended;
      // npm forwards SIGINT and SIGTERM and waits. It has no handler for SIGHUP, so it ends before the service.
      if (signal !== 'SIGHUP') assert.equal(end, 0, service.output());
      await until('every process has ended', () => processesOf(dataDir).length === 0);
      assert.ok(!existsSync(join(dataDir, 'pg', 'postmaster.pid')));
    });
  }

  it('incomplete requests of strangers do not delay a stop, and the service exits 0', async () => {
    await start();
    const port = Number(new URL(service.baseUrl).port);
    const refused = connect(port, '127.0.0.1');
    const json = 'Content-Type: application/json\r\nContent-Length: 1000\r\n';
    refused.write(`POST /v1/messages/send HTTP/1.1\r\nHost: a\r\nX-Api-Key: none\r\n${json}\r\n{`);
    await once(refused, 'data');
    const silent = connect(port, '127.0.0.1');
    silent.write('GET /docs HTTP/1.1\r\nHost: a\r\n');
    await once(silent, 'connect');
    // The server accepts connections in order: this answer shows that it has accepted the other two.
    assert.equal((await api.get('/v1/team')).status, 200);
    for (const socket of [refused, silent]) socket.on('error', () => undefined);
    // The refused client goes on writing until it is disconnected.
    const trickle = setInterval(() => refused.write(' '), 20);
    refused.once('close', () => clearInterval(trickle));
    service.child.kill('SIGTERM');
    assert.equal(await service.ended, 0, service.output());
    clearInterval(trickle);
    for (const socket of [refused, silent]) socket.destroy();
    noProcessIsLeft(dataDir);
  });

  it('signals within a second count as one, and a signal after that second stops PostgreSQL and exits at once with 1', async () => {
    await start();
    const held = await holdSend();
    const startedMs = performance.now();
    const sending = new AbortController();
    service.child.once('exit', () => sending.abort());
    while (!sending.signal.aborted) {
      service.child.kill('SIGTERM');
      await pause(100, undefined, { signal: sending.signal }).catch(() => undefined);
    }
    const tookMs = performance.now() - startedMs;
    // The lock's connection ended with PostgreSQL, so its release fails.
    await held.release().catch(() => undefined);
    assert.ok(tookMs >= 1_000, `it ended after ${tookMs} ms`);
    assert.equal(await service.ended, 1, service.output());
    noProcessIsLeft(dataDir);
    assert.ok(!existsSync(join(dataDir, 'pg', 'postmaster.pid')));
    await assert.rejects(held.answer);
  });
});

// The tests run concurrently: each has its own DATA_DIR and mostly waits.
describe('a stop of a start under way (specification section 10.3)', { concurrency: true }, () => {
  let parent: string;

  before(async () => {
    parent = await makeParent();
  });
  after(() => removeParent(parent));

  const phases: Readonly<Record<string, (dataDir: string) => boolean>> = {
    'while the programs of PostgreSQL are copied': (dataDir) => existsSync(join(dataDir, 'engine')),
    'while initdb runs': (dataDir) =>
      existsSync(dataDir) &&
      readdirSync(dataDir).some(
        (name) => name.startsWith('pg.new-') && existsSync(join(dataDir, name, 'global')),
      ),
    'while PostgreSQL starts': (dataDir) => existsSync(join(dataDir, 'pg', 'postmaster.pid')),
  };
  for (const [phase, isReached] of Object.entries(phases)) {
    it(`SIGINT to the process group ${phase} exits 0 and leaves no process, and the next start with this DATA_DIR succeeds`, async () => {
      const dataDir = join(parent, phase.replaceAll(' ', '-'));
      const settings = { DATA_DIR: dataDir };
      const stopped = await launchService({ settings, command: npmStart, ownGroup: true });
      await until(phase, () => isReached(dataDir));
      killGroup(stopped.child, 'SIGINT');
      assert.equal(await stopped.ended, 0, stopped.output());
      noProcessIsLeft(dataDir);
      assert.ok(!stopped.output().includes('Error'), stopped.output());
      assert.deepEqual(
        readdirSync(dataDir).filter((name) => name.startsWith('pg.new-')),
        [],
      );
      const service = await spawnService({ settings });
      assert.match(await firstKey(dataDir), /^own_live_/);
      assert.equal(await service.kill('SIGTERM'), 0, service.output());
    });
  }

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
