import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { holdSchemaLock } from '#test/support/database/row-lock.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { launchService, type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { until } from '#test/support/service/until.ts';

const ordinaryId = 65_534;
const isRoot = process.getuid?.() === 0;
/** False if the checkout lies in a folder that an ordinary user can't enter. */
const ordinaryUserRuns =
  !isRoot ||
  spawnSync(process.execPath, ['--version'], { uid: ordinaryId, gid: ordinaryId }).error === undefined;

describe('a failed start prints one sentence with the setting and advice', () => {
  let parent: string;
  let database: TestDatabase;
  const listeners: Server[] = [];

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'ownline-problems-'));
    await chmod(parent, 0o755);
    database = await createTestDatabase();
  });
  after(async () => {
    for (const listener of listeners) listener.close();
    await database.close();
    await rm(parent, { recursive: true, force: true });
  });

  /** Asserts that a start fails with one sentence. @returns its log */
  async function failStart(
    settings: Readonly<Record<string, string>>,
    options: { readonly port?: number; readonly asOrdinaryUser?: boolean } = {},
  ): Promise<string> {
    const service = await launchService({
      settings: {
        DATABASE_URL: database.url,
        DATA_DIR: join(parent, 'data'),
        LOG_LEVEL: 'error',
        ...settings,
      },
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.asOrdinaryUser && isRoot ? { as: { uid: ordinaryId, gid: ordinaryId } } : {}),
    });
    assert.equal(await service.ended, 1, service.output());
    assert.doesNotMatch(service.output(), /^ +at |node:internal|Error:/m);
    return service.log().trim();
  }

  it('a first start on a PORT in use names the port, and makes no key and no database', async () => {
    const listener = createServer();
    listeners.push(listener);
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    assert.ok(typeof address === 'object' && address !== null);
    const { port } = address;
    const DATA_DIR = join(parent, 'of-a-port-in-use');
    assert.equal(
      await failStart({ DATABASE_URL: '', DATA_DIR }, { port }),
      `PORT ${port} is in use: another process listens on 127.0.0.1:${port}. Stop that process, or set PORT to a free port.`,
    );
    assert.equal(existsSync(DATA_DIR), false);
  });

  it('a start on a PORT that this user may not use advises a port of 1024 or more', {
    skip:
      (!ordinaryUserRuns && 'an ordinary user can not read below this folder') ||
      (mayListenOn(80) && 'this machine lets every user listen on port 80'),
  }, async () => {
    const dataDir = join(parent, 'of-user');
    await mkdir(dataDir);
    if (isRoot) await chown(dataDir, ordinaryId, ordinaryId);
    assert.match(
      await failStart({ DATABASE_URL: '', DATA_DIR: dataDir }, { port: 80, asOrdinaryUser: true }),
      /^PORT 80 is closed to this user: ports below 1024 belong to root\. Set PORT to 1024 or more/m,
    );
  });

  it('a HOST that is not an address of this machine, has no address or is not a valid host is refused', async () => {
    assert.match(
      await failStart({ HOST: '203.0.113.7' }),
      /^HOST 203\.0\.113\.7 is no address of this machine\./,
    );
    assert.match(
      await failStart({ HOST: 'nowhere.invalid' }),
      /^HOST nowhere\.invalid is a name without an address/,
    );
    assert.match(
      await failStart({ HOST: 'not a host!' }),
      /- HOST must be an address of this machine, .*"not a host!"/,
    );
  });

  it('the error of a start or command names a DATABASE_URL at which no server listens', async () => {
    const DATABASE_URL = 'postgresql://ownline@127.0.0.1:1/ownline';
    const sentence =
      'DATABASE_URL names 127.0.0.1:1, where no PostgreSQL listens. Start it, or correct the host and the port.';
    assert.equal(await failStart({ DATABASE_URL }), sentence);
    const { code, errors } = await new CommandLine(join(parent, 'data')).run(['team', 'list'], {
      DATABASE_URL,
    });
    assert.deepEqual([code, errors.trim()], [1, sentence]);
  });

  it('a DATA_DIR that is a file, lies below a file or is not writable is named with advice', async () => {
    const file = join(parent, 'file');
    await writeFile(file, '');
    for (const DATA_DIR of [file, join(file, 'data')]) {
      assert.match(
        await failStart({ DATA_DIR, DATABASE_URL: '' }),
        /^DATA_DIR \S+ can't be used: it is not a folder \(E\w+\)\. Choose a folder that this user may write to\.$/,
      );
    }
    if (!ordinaryUserRuns) return;
    const closed = join(parent, 'closed');
    await mkdir(closed, { mode: 0o555 });
    const below = join(closed, 'data');
    assert.match(
      await failStart({ DATA_DIR: below, DATABASE_URL: '' }, { asOrdinaryUser: true }),
      /^DATA_DIR \S+ can't be used: this user may not access it \(EACCES\)\./,
    );
    const others = join(parent, 'others');
    await mkdir(others, { mode: 0o555 });
    if (isRoot) await chown(others, ordinaryId, ordinaryId);
    assert.match(
      await failStart({ DATA_DIR: others, DATABASE_URL: '' }, { asOrdinaryUser: true }),
      /^DATA_DIR \S+ can't be used, because of \S+\/lock: this user may not access it \(EACCES\)\. Start Ownline as/,
    );
  });

  it('a process that waits for another process to create the schema ends its wait on SIGTERM and exits 0 (section 10.3)', async () => {
    const lock = await holdSchemaLock({ databaseUrl: database.url });
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(parent, 'waiting') };
    const service = await launchService({ settings });
    await lock.waiting(1);
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    await lock.release();
  });

  it('the error for a misspelt setting has the right name', async () => {
    const service = await spawnService({
      settings: { DATABASE_URL: database.url, DATA_DIR: join(parent, 'data'), DATABSE_URL: 'x' },
    });
    assert.equal(await service.kill('SIGTERM'), 0);
    assert.match(
      service.log(),
      /DATABSE_URL is not a setting and has no effect\. Did you mean DATABASE_URL\?/,
    );
  });
});

function mayListenOn(port: number): boolean {
  if (isRoot && !ordinaryUserRuns) return true;
  const script = `require('net').createServer().on('error', () => process.exit(1)).listen(${port}, '127.0.0.1', () => process.exit(0))`;
  return (
    spawnSync(process.execPath, ['-e', script], isRoot ? { uid: ordinaryId, gid: ordinaryId } : {}).status ===
    0
  );
}

describe('processes on one database, and the record of an address (specification section 10.3)', () => {
  const started: SpawnedService[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const service of started) await service.kill('SIGTERM');
    for (const close of closing) await close();
  });

  it('a setting that differs between two processes is logged once in each, with its name and without its value', async () => {
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-settings-'));
    closing.push(
      () => database.close(),
      () => rm(dataDir, { recursive: true, force: true }),
    );
    const common = { DATABASE_URL: database.url, DATA_DIR: dataDir, BASE_URL: 'https://texts.example.com' };
    const start = async (settings: Record<string, string>) => {
      const service = await spawnService({ settings: { ...common, ...settings } });
      started.push(service);
      return service;
    };
    const first = await start({ EGRESS_ALLOW_CIDRS: '10.1.2.3/32', RETENTION_DAYS: '30' });
    const second = await start({});
    const differences = (service: SpawnedService) =>
      service.log().match(/[A-Z_]+(?= differs between this process)/g);
    for (const service of [first, second]) {
      await until('both are logged', () => differences(service)?.length === 2);
      assert.deepEqual(differences(service), ['EGRESS_ALLOW_CIDRS', 'RETENTION_DAYS']);
      assert.doesNotMatch(service.log(), /10\.1\.2\.3|0a010203/);
    }
    // The third process has the second process's settings, so it differs only from the first.
    const third = await start({});
    await until('it is logged', () =>
      [third, first].every((service, n) => differences(service)?.length === 2 + 2 * n),
    );
    assert.equal(differences(second)?.length, 2);
  });

  it('a service that stops removes the record of its address, unless another service replaced it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-record-'));
    const copy = await createTestDatabase();
    const recorded = () => readFile(join(dataDir, 'address.json'), 'utf8').catch(() => 'no record');
    const start = async () => {
      const begun = await spawnService({ settings: { DATA_DIR: dataDir, DATABASE_URL: copy.url } });
      await until('its address is recorded', async () => (await recorded()).includes(begun.baseUrl));
      return begun;
    };
    const first = await start();
    const second = await start().finally(() => first.kill('SIGTERM'));
    try {
      assert.ok((await recorded()).includes(second.baseUrl));
    } finally {
      await second.kill('SIGTERM');
    }
    assert.equal(await recorded(), 'no record');
    await copy.close();
    await rm(dataDir, { recursive: true });
  });
});
