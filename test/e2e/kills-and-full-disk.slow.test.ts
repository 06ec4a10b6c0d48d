import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { refuseInserts } from '#test/support/database/table-faults.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { type SendHistory, sendOnce, sendUnderLoad } from '#test/support/processes/send-under-load.ts';
import { canMountDisk, makeSmallDisk, type SmallDisk } from '#test/support/processes/small-disk.ts';
import {
  firstKey,
  launchService,
  type SpawnedService,
  spawnService,
} from '#test/support/processes/spawned-service.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { freePort, startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { acceptedInAll } from '#test/support/usage/stored-usage.ts';

const from = '+14155550100';
const to = '+14155550101';

/** This database has its own engine with fsync, as in production. */
describe('recovery after a kill (specification section 10.3)', () => {
  let dataDir: string;
  let port: number;
  let service: SpawnedService;
  let key: string;
  let phone: SimulatedPhone;
  let phoneRuns: Promise<void>;
  const histories: SendHistory[] = [];
  const sending = (isOver: () => boolean) => ({
    baseUrl: () => `http://127.0.0.1:${port}`,
    key,
    from,
    to,
    connections: 16,
    isOver,
    prefix: `run-${histories.length}`,
  });
  const start = (command?: readonly [string, ...string[]]) =>
    spawnService({ settings: { DATA_DIR: dataDir }, port, ...(command ? { command } : {}) });

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-crash-'));
    port = await freePort();
    service = await start();
    key = await firstKey(dataDir);
    const api = new ApiClient(service.baseUrl, key);
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const { token } = await claim(api, String(verify.json.setup_url));
    phone = new SimulatedPhone({ server: service.baseUrl, deviceToken: token, waitSeconds: 0.1 });
    phoneRuns = phone.run();
    await until('the number is verified', async () =>
      (await api.get('/v1/numbers')).text.includes('"verified":true'),
    );
  });
  after(async () => {
    phone.switchOff();
    await phoneRuns;
    await service.kill('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Sends messages while `disturb` runs and until messages are accepted again. */
  async function disturbUnderLoad(disturb: () => Promise<void>): Promise<void> {
    let over = false;
    const load = sendUnderLoad(sending(() => over));
    const probe = new ApiClient(`http://127.0.0.1:${port}`, key);
    const isAccepting = async () => {
      const answer = await probe
        .post('/v1/messages/send', { from, to, content: 'probe' })
        .catch(() => undefined);
      return answer?.status === 202;
    };
    try {
      await until('messages are accepted', isAccepting);
      await disturb();
      await until('messages are accepted again', isAccepting);
    } catch (error) {
      throw new Error(`The service printed:\n${service.output()}`, { cause: error });
    } finally {
      over = true;
    }
    histories.push(await load);
  }

  async function killDatabase(): Promise<void> {
    const file = await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').catch(() => '');
    const [pid] = file.split('\n');
    try {
      if (pid) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has ended already.
    }
  }

  it('the service recovers after its PostgreSQL was killed during sends', async () => {
    await disturbUnderLoad(async () => {
      const refusal = await until('the service noticed', async () => {
        // PostgreSQL is killed again until /readyz notices, because it may be back before /readyz asks for it.
        await killDatabase();
        const answer = await fetch(`${service.baseUrl}/readyz`);
        return !answer.ok && answer.text();
      });
      assert.match(refusal, /starts its PostgreSQL again .* postgres\.log in DATA_DIR/);
    });
    // The test waits, because /readyz may repeat an older answer for a second.
    await until('it is ready again', async () => (await fetch(`${service.baseUrl}/readyz`)).ok);
  });

  it('a killed service takes over its running PostgreSQL at the next start', async () => {
    await disturbUnderLoad(async () => {
      await service.kill('SIGKILL');
      service = await start();
    });
  });

  it('npm start stops cleanly when it gets a signal under load', async () => {
    await service.kill('SIGTERM');
    service = await start(['npm', 'start']);
    await disturbUnderLoad(async () => {
      assert.equal(await service.kill('SIGTERM'), 0, service.output());
      await assert.rejects(fetch(`${service.baseUrl}/healthz`), 'nothing listens any more');
      await assert.rejects(readFile(join(dataDir, 'pg', 'postmaster.pid')), 'its PostgreSQL has stopped too');
      service = await start();
    });
  });

  it('each message that was answered 202 is stored once and sent at most once, despite the kills', async () => {
    for (const history of histories) {
      for (const open of [...history.open])
        await sendOnce(
          sending(() => true),
          history,
          open,
        );
      assert.equal(history.open.size, 0);
    }
    const connection = await connectToDatabase(await findEngineUrl(dataDir));
    const all = await storedMessages(connection);
    const accepted = await acceptedInAll(connection);
    await connection.close();
    const stored = all.filter(({ direction, content }) => direction === 'outbound' && content !== 'probe');
    const answeredKeys = histories.flatMap((history) => [...history.accepted.keys()]);
    assert.ok(answeredKeys.length > 100, `enough was sent to mean something: ${answeredKeys.length}`);
    assert.equal(stored.length, answeredKeys.length, 'each accepted message is stored once');
    assert.equal(accepted, all.length, 'the month counts what was accepted');
    assert.equal(
      new Set(phone.sent.map((message) => message.id)).size,
      phone.sent.length,
      'nothing went out twice',
    );
  });
});

/** A new DATA_DIR, with PostgreSQL's programs, takes 130 MB. */
const diskMegabytes = 200;

describe('a full disk (specification section 10.4)', {
  skip: !canMountDisk() && 'only root of a Linux machine may mount a small file system',
}, () => {
  let parent: string;
  let disk: SmallDisk;
  let dataDir: string;
  let service: SpawnedService;
  let api: ApiClient;

  const options = (folder: string) => ({
    // The hold is short, because the poll that verifies the number is held for this time.
    settings: { DATA_DIR: folder, LOG_LEVEL: 'error', DEVICE_HOLD_SECONDS: '1' },
    command: disk.command(process.execPath, 'server/main.ts'),
  });
  const start = async () => {
    service = await spawnService(options(dataDir));
    api = new ApiClient(service.baseUrl, await firstKey(join(disk.seenFromHere, 'data')));
  };
  /** Asserts that a start fails with one sentence. @returns its output */
  const failStart = async (folder: string) => {
    const failed = await launchService(options(folder));
    assert.equal(await failed.ended, 1, failed.output());
    assert.doesNotMatch(failed.log(), /^ +at |node:internal|Error:/m);
    return failed.log().trim();
  };
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'ownline-disk-'));
    await chmod(parent, 0o711);
    disk = await makeSmallDisk(join(parent, 'disk'), diskMegabytes);
    dataDir = join(disk.folder, 'data');
    await start();
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    await (await claim(api, String(verify.json.setup_url))).poll();
  });
  after(async () => {
    await service.kill('SIGTERM');
    disk.remove();
    await rm(parent, { recursive: true, force: true });
  });

  /** Random content, which PostgreSQL can't compress. */
  const send = () =>
    api.post('/v1/messages/send', { from, to, content: randomBytes(1_500).toString('base64') });
  const ready = () => new ApiClient(service.baseUrl, '').get('/readyz');
  const messageOf = (answer: ApiAnswer) => String(field(answer.json, 'error.message'));

  it('/readyz is 503 with disk and path while the disk is full, and 200 again once there is space', async () => {
    assert.equal((await ready()).status, 200);
    await disk.fill();
    const full = await until('it is not ready', async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    assert.match(messageOf(full), /disk/);
    assert.ok(messageOf(full).includes(dataDir), full.text);
    await disk.free();
    await until('it is ready again', async () => (await ready()).status === 200);
  });

  it('a send to a full disk is refused with retry-after and the path, and accepted once there is space', async () => {
    await disk.fill();
    const accepted: string[] = [];
    const refused = await until('a send is refused', async () => {
      const answer = await send();
      if (answer.status !== 202) return answer;
      accepted.push(String(answer.json.id));
      return undefined;
    });
    // 503 means that a table could not grow. 500 means that PostgreSQL ended without space for its log, and the send
    // is in doubt.
    assert.ok([500, 503].includes(refused.status), refused.text);
    assert.equal(refused.headers.get('retry-after'), '2');
    assert.match(messageOf(refused), /The disk of \S+ is full/);
    assert.ok(messageOf(refused).includes(dataDir), refused.text);
    await disk.free();
    await until('sends are accepted', async () => (await send()).status === 202);
    for (const id of accepted) assert.equal((await api.get(`/v1/messages/${id}`)).status, 200);
  });

  it('a start on a full disk fails with a sentence that names disk and path, and a stop succeeds', async () => {
    await disk.fill();
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    const sentence = await failStart(dataDir);
    assert.match(sentence, /^The disk of \S+ is full: \d\.\d of 200 MB are free\. Free space on it/);
    assert.ok(sentence.includes(dataDir), sentence);
    await disk.free();
    await start();
    assert.equal((await send()).status, 202);
  });

  it('a first start without space for a database names the disk', async () => {
    await service.kill('SIGTERM');
    assert.match(await failStart(join(disk.folder, 'other')), /^The disk of \S+\/other is (full|too small)/);
    await start();
  });
});

describe('a disk that is full for PostgreSQL (specification section 10.4)', () => {
  it('a send that PostgreSQL refuses for a full disk stores nothing and names the disk', async (t) => {
    const service = await startTestService();
    const team = await service.newTeam();
    t.after(() => service.close());
    await refuseInserts(service, 'send_queue', 'disk_full');
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: from });
    await (await claim(team.api, String(verify.json.setup_url))).poll();
    const answer = await team.api.post('/v1/messages/send', { from, to, content: 'Hello' });
    assert.equal(answer.status, 503, answer.text);
    assert.match(String(field(answer.json, 'error.message')), /disk .* full.*Nothing was stored/);
    assert.deepEqual(await storedMessages(service), []);
  });
});
