import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pacingChannel } from '#server/database/channels.ts';
import { cutBlocked } from '#test/support/database/blocked-statements.ts';
import { hearNotifications } from '#test/support/database/hear-notifications.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { givenPhoneTeam } from '#test/support/phones/phone-team.ts';
import { type ConnectedNumber, DeviceWire, heldPoll } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

describe('hand-outs (specification section 11.4)', () => {
  const phones = givenPhoneTeam();
  const { service, team } = phones;
  const other = given(() => service.startAnother());

  /** The phone of a number, whose calls another process answers. */
  const wireElsewhere = ({ wire: { token, session } }: ConnectedNumber) => {
    const wire = new DeviceWire(other.baseUrl, token);
    wire.session = session;
    return wire;
  };

  it('a message is handed out once, and the next one only after its report (§3.1/handed-out, §3.2/handed-out-once)', async () => {
    const number = await phones.connect();
    const first = await phones.send(number, 'one');
    const second = await phones.send(number, 'two');
    const answer = await number.wire.poll();
    assert.deepEqual(
      { ...answer, session: '' },
      { action: 'send', session: '', id: first, to: '+12125550100', text: 'one', media: 'none', wait: '0' },
    );
    assert.equal((await phones.messageOf(first)).status, 'polling');
    assert.equal((await phones.messageOf(second)).waiting_reason, 'phone_busy');
    assert.equal((await number.wire.poll({ last: first })).id, second);
    assert.equal((await phones.messageOf(first)).status, 'sent');
  });

  it('a send wakes the held poll of the phone, also on another process', async () => {
    const number = await phones.connect();
    const { answer } = await heldPoll(service, number, wireElsewhere(number));
    const id = await phones.send(number, 'across processes');
    assert.equal((await answer).id, id);
  });

  it('a report by status wakes the held poll of its number on every process, without waiting for the sweep', async () => {
    const number = await phones.connect();
    const [first, second] = [await phones.send(number, 'one'), await phones.send(number, 'two')];
    assert.equal((await number.wire.poll()).id, first);
    service.clock.advance(61_000);
    const sessionOf = async () => (await findDeviceSession(service, number.phoneNumber))?.sessionId;
    const before = await sessionOf();
    const answer = new DeviceWire(other.baseUrl, number.wire.token).poll();
    await until('the poll has a session of its own', async () => (await sessionOf()) !== before);
    const notified = await hearNotifications(service, pacingChannel);
    const report = { id: first, status: 'failed', error: 'No service' };
    assert.equal((await number.wire.call('status', report)).ok, '1');
    assert.equal((await answer).id, second);
    await until('the notification is heard', () => notified.heard.length > 0);
    await notified.stop();
    assert.deepEqual(notified.heard, [{ channel: pacingChannel, payload: uuidOf('num', number.numberId) }]);
  });

  it('a repeated, late or refused report changes nothing and wakes no held poll (§3.2/repeated-reports)', async () => {
    const number = await phones.connect();
    const stranger = await phones.connect();
    const id = await phones.send(number, 'one');
    const waiting = await phones.send(number, 'two');
    assert.equal((await number.wire.poll()).id, id);
    const failed = { id, status: 'failed', error: 'No service' };
    assert.equal((await number.wire.call('status', failed)).ok, '1');
    service.clock.advance(24 * 3_600_000);
    const notified = await hearNotifications(service, pacingChannel);
    await number.wire.call('status', failed);
    await number.wire.call('status', { id, status: 'sent' });
    await number.wire.call('status', { id: waiting, status: 'sent' });
    await stranger.wire.call('status', { id, status: 'failed' });
    const marker = uuidOf('num', stranger.numberId);
    service.runtime.database.notify(pacingChannel, [marker]);
    await until('the marker is heard', () => notified.heard.some(({ payload }) => payload.includes(marker)));
    await notified.stop();
    assert.deepEqual(notified.heard, [{ channel: pacingChannel, payload: marker }]);
  });

  it('the newer of two polls of one session gets the message, and the older one gets idle', async () => {
    const number = await phones.connect();
    const older = await heldPoll(service, number);
    const newer = await heldPoll(service, number);
    assert.equal((await older.answer).action, 'idle');
    const id = await phones.send(number, 'to the newest');
    assert.equal((await newer.answer).id, id);
  });

  it('the older of two polls on two processes gets no message', async () => {
    const number = await phones.connect();
    const older = await heldPoll(service, number, wireElsewhere(number));
    const newer = await heldPoll(service, number);
    const id = await phones.send(number, 'to the newest');
    assert.equal((await newer.answer).id, id);
    service.clock.advance(25_000);
    assert.equal((await older.answer).action, 'idle');
  });

  it('a phone that disconnects while its poll is held gets no message', async () => {
    const number = await phones.connect();
    for (let round = 0; round < 10; round += 1) {
      const held = await heldPoll(service, number);
      held.leave();
      const id = await phones.send(number, `round ${round}`);
      await held.answer.catch(() => undefined);
      const answer = await number.wire.poll();
      assert.equal(answer.id, id, 'the next poll gets it, and gets it once');
      await number.wire.call('status', { id, status: 'delivered' });
    }
    const stored = await storedMessages(service, { from: number.phoneNumber });
    assert.equal(Math.max(...stored.map(({ handOutCount }) => handOutCount)), 1);
  });

  it('a held poll is answered idle after DEVICE_HOLD_SECONDS, not earlier and not later', async () => {
    const number = await phones.connect();
    const startedAtMs = service.clock.nowMs();
    const { answer } = await heldPoll(service, number);
    let answered = false;
    answer.then(() => {
      answered = true;
    });
    service.clock.advance(20_000);
    await fetch(`${service.baseUrl}/healthz`);
    assert.equal(answered, false);
    service.clock.advance(5_000);
    assert.equal((await answer).action, 'idle');
    const tookMs = service.clock.nowMs() - startedAtMs;
    assert.ok(tookMs >= 25_000 && tookMs < 45_000, String(tookMs));
  });

  it('a poll whose look-up loses the database is looked up again while it is held', async (t) => {
    const number = await phones.connect();
    const id = await phones.send(number, 'during a failover');
    const lock = await holdTableLock(service, 'device_sessions');
    t.after(() => lock.release());
    const answer = number.wire.poll();
    await cutBlocked(service, 'device-protocol.look-up-polls');
    await lock.release();
    assert.equal((await answer).id, id);
  });

  it('a poll of a paused number is held until its end, and resuming the number wakes it (§3.3/pause-and-resume)', async () => {
    const number = await phones.connect();
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    const held = await heldPoll(service, number);
    service.clock.advance(25_000);
    assert.equal((await held.answer).action, 'idle');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    const id = await phones.send(number, 'accepted before the pause');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal((await phones.messageOf(id)).waiting_reason, 'number_paused');
    const again = await heldPoll(service, number);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal((await again.answer).id, id);
  });
});
