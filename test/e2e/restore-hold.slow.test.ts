import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { claim, DeviceWire } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { firstKey, type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+12125550100';

/** A phone's session is over after this time without a poll. */
const sessionMs = 60_000;

describe('a loss of all data, and the restore of a backup (specification section 10.8)', () => {
  let folder: string;
  let service: SpawnedService | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ownline-restore-hold-'));
    // The mode lets other users enter the folder, because PostgreSQL may run as another user.
    await chmod(folder, 0o711);
  });
  after(async () => {
    await service?.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  const start = (dataDir: string) =>
    spawnService({
      settings: { DATA_DIR: dataDir, LOG_LEVEL: 'error', DEVICE_HOLD_SECONDS: '2' },
      movesClock: true,
    });

  it('a message that is queued in a backup is sent once after ownline restore --resume, even to a phone with a newer session', async () => {
    const lost = join(folder, 'lost');
    const backup = join(folder, 'night.backup');
    service = await start(lost);
    const key = await firstKey(lost);
    let api = new ApiClient(service.baseUrl, key);
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const phone = await claim(api, String(verify.json.setup_url));
    assert.equal((await phone.poll()).action, 'idle');
    const waiting = await api.send({ from, to, content: 'waits in the backup' });
    await new CommandLine(lost).json('backup', backup);
    // After the backup the phone sends the waiting message and begins a new session.
    assert.equal((await phone.poll()).id, waiting);
    assert.equal((await phone.poll({ last: waiting })).action, 'idle');
    const session = phone.session;
    await service.advance(sessionMs);
    phone.session = 'new';
    assert.equal((await phone.poll()).action, 'idle');
    assert.notEqual(phone.session, session);
    await service.kill('SIGTERM');
    await rm(lost, { recursive: true });

    const restored = join(folder, 'restored');
    const commands = new CommandLine(restored);
    await commands.json('restore', backup);
    service = await start(restored);
    await service.advance(2 * sessionMs);
    api = new ApiClient(service.baseUrl, key);
    const again = new DeviceWire(service.baseUrl, phone.token);
    again.session = phone.session;
    assert.equal((await again.poll()).action, 'idle');
    assert.equal((await api.get(`/v1/messages/${waiting}`)).json.waiting_reason, 'restore_hold');
    const { held, waiting: counts } = await commands.json('restore', '--status');
    assert.deepEqual([held, counts], [true, { messages: 1, deliveries: 0, mails: 0 }]);
    const shown = await commands.run(['restore', '--status']);
    assert.match(
      shown.output,
      /^Restored from the backup of .+\. 1 message, 0 deliveries and 0 mails wait from it: `ownline restore --resume`/,
    );

    assert.equal((await commands.json('restore', '--resume')).resumed, true);
    const handed = await until('the message goes out', async () => (await again.poll()).id);
    assert.equal(handed, waiting);
    assert.equal((await again.poll({ last: waiting })).action, 'idle');
    assert.equal((await again.poll()).action, 'idle');
    assert.equal((await api.get(`/v1/messages/${waiting}`)).json.status, 'sent');
    assert.equal((await commands.json('restore', '--status')).held, false);
    assert.equal((await commands.json('restore', '--resume')).resumed, false);
  });
});
