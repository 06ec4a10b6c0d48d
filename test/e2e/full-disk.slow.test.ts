import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { refuseInserts } from '#test/support/database/table-faults.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { canMountDisk, makeSmallDisk, type SmallDisk } from '#test/support/processes/small-disk.ts';
import {
  firstKey,
  launchService,
  type SpawnedService,
  spawnService,
} from '#test/support/processes/spawned-service.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+14155550101';

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
    // The time of a long poll is short, because the poll that verifies the number takes that time.
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

  it('a send is refused with retry-after and the path while the disk is full, and accepted once there is space', async () => {
    await disk.fill();
    const accepted: string[] = [];
    const refused = await until('a send is refused', async () => {
      const answer = await send();
      if (answer.status !== 202) return answer;
      accepted.push(String(answer.json.id));
      return undefined;
    });
    // 503 means that a table could not grow. 500 means that PostgreSQL ended without space for its log; then it is
    // unknown whether the send was stored.
    assert.ok([500, 503].includes(refused.status), refused.text);
    assert.equal(refused.headers.get('retry-after'), '2');
    assert.match(messageOf(refused), /The disk of \S+ is full/);
    assert.ok(messageOf(refused).includes(dataDir), refused.text);
    await disk.free();
    await until('sends are accepted', async () => (await send()).status === 202);
    for (const id of accepted) assert.equal((await api.get(`/v1/messages/${id}`)).status, 200);
  });

  it('on a full disk a stop succeeds, and a start fails with a sentence that names disk and path', async () => {
    await disk.fill();
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    const sentence = await failStart(dataDir);
    assert.match(sentence, /^The disk of \S+ is full: \d\.\d of 200 MB are free\. Free space on it/);
    assert.ok(sentence.includes(dataDir), sentence);
    await disk.free();
    await start();
    assert.equal((await send()).status, 202);
  });

  it('a first start on a disk without space for a database names the disk', async () => {
    await service.kill('SIGTERM');
    assert.match(await failStart(join(disk.folder, 'other')), /^The disk of \S+\/other is (full|too small)/);
    await start();
  });
});

describe('a disk that is full for PostgreSQL (specification section 10.4)', () => {
  it('a send that PostgreSQL refuses because its disk is full stores nothing, and its answer names the disk', async (t) => {
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
