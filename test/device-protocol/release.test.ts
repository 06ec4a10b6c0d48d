import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClaimingPoll, claimMessages } from '#server/messages/claim-message.ts';
import { resolveUnconfirmed } from '#server/messages/hand-out-leases.ts';
import { releaseMessage } from '#server/messages/release-message.ts';
import { failExpired, resolveOverdue } from '#server/messages/sweep-messages.ts';
import { type MessageId, parseId, publicId } from '#server/platform/ids.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import {
  handOutsOf,
  messagesInFlight,
  queuedMessages,
  storedMessages,
} from '#test/support/messages/stored-messages.ts';
import { givenPhoneTeam } from '#test/support/phones/phone-team.ts';
import { type ConnectedNumber, connectNumber, heldPoll } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

describe('claiming and releasing a message (specification section 11.4)', () => {
  const phones = givenPhoneTeam();
  const { service, team } = phones;

  const queued = async ({ phoneNumber }: ConnectedNumber) =>
    (await queuedMessages(service, { phoneNumber })).length;
  /** The newest poll of the number's session: `claimMessages` and `releaseMessage` act for it. */
  const claimantOf = async (number: ConnectedNumber): Promise<ClaimingPoll> => {
    const session = await findDeviceSession(service, number.phoneNumber);
    assert.ok(session);
    return session;
  };
  const claimAs = async (claimant: ClaimingPoll) => {
    const [claim] = await claimMessages(service.runtime, [claimant], 60_000);
    return typeof claim === 'object' && claim.kind === 'hand_out'
      ? publicId('msg', claim.handOut.message_id)
      : undefined;
  };
  const giveBackAs = (claimant: ClaimingPoll, id: string) =>
    releaseMessage(service.runtime, claimant, parseId('msg', id) as MessageId);

  it('a message whose phone disconnected before the first byte returns to its place in the queue, and its hand-out is deleted (§3.1/left-before-answer)', async () => {
    const number = await phones.connect();
    const first = await phones.send(number, 'first');
    await phones.send(number, 'second');
    const leaving = new AbortController();
    // The hand-out has chosen its message, but can't commit and answer.
    const inserts = await holdInserts(service, 'hand_outs');
    const answer = number.wire.poll({}, leaving.signal);
    await untilBlocked(service, 'messages.claim');
    leaving.abort();
    await assert.rejects(answer);
    // The server reads connections in order: once it answers this request, it has noticed that the phone disconnected.
    await fetch(`${service.baseUrl}/healthz`);
    await inserts.end();
    await until(
      'it is queued again',
      async () => (await phones.messageOf(first)).status === 'queued' && (await queued(number)) === 2,
    );
    assert.equal((await number.wire.poll()).id, first);
    assert.equal((await handOutsOf(service, number.phoneNumber)).length, 1);
  });

  for (const way of ['is unconfirmed', 'was released by its poll'] as const)
    it(`a message that returns to the queue because it ${way} goes before a later message that was waiting to be handed out (§3.1/retry-once)`, async () => {
      const number = await phones.connect();
      await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
      const first = await phones.send(number, 'first');
      assert.equal((await number.wire.poll()).id, first);
      const second = await phones.send(number, 'second');
      const [flight] = await messagesInFlight(service, number.phoneNumber);
      assert.ok(flight);
      const { teamId: team_id, numberId: number_id, messageId: message_id, handOut: hand_out } = flight;
      const claimant = await claimantOf(number);
      // The return to the queue waits for the session's lock before the hand-out does. So the hand-out's snapshot is
      // older than the commit of the return.
      const lock = await holdRowLock(service, { sessionOf: number.phoneNumber });
      const returned =
        way === 'is unconfirmed'
          ? resolveUnconfirmed(service.runtime, { team_id, number_id, message_id, hand_out })
          : giveBackAs(claimant, first);
      await lock.waiting(1);
      assert.equal(await claimAs(claimant), undefined, 'it claims again later');
      await lock.release();
      await returned;
      assert.equal((await number.wire.poll()).id, first);
      assert.equal((await number.wire.poll({ last: first })).id, second);
    });

  it('only the newest poll of the current session of an active number gets a message', async () => {
    const number = await phones.connect();
    const id = await phones.send(number, 'for one poll only');
    const newest = await claimantOf(number);
    const stranger = await claimantOf(await phones.connect());
    assert.equal(await claimAs({ ...newest, poll: newest.poll - 1 }), undefined, 'an older poll');
    assert.equal(await claimAs({ ...newest, sessionId: stranger.sessionId }), undefined, 'another session');
    assert.equal(await claimAs({ ...newest, deviceId: stranger.deviceId }), undefined, 'another phone');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal(await claimAs(newest), undefined, 'a paused number');
    assert.equal((await phones.messageOf(id)).status, 'queued');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal(await claimAs(newest), id);
  });

  it('a message is released only by the poll that claimed it, and once (§3.1/left-before-answer)', async () => {
    const number = await phones.connect();
    const id = await phones.send(number, 'in the hands of one poll');
    assert.equal((await number.wire.poll()).id, id);
    const claimed = await claimantOf(number);
    const stranger = await claimantOf(await phones.connect());
    const others = [
      { ...claimed, poll: claimed.poll - 1 },
      { ...claimed, poll: claimed.poll + 1 },
      { ...claimed, sessionId: stranger.sessionId },
    ];
    for (const other of others) {
      await giveBackAs(other, id);
      assert.equal((await phones.messageOf(id)).status, 'polling');
    }
    for (const _ of ['given back', 'and again']) {
      await giveBackAs(claimed, id);
      assert.equal((await phones.messageOf(id)).status, 'queued');
      assert.equal(await queued(number), 1);
    }
    assert.equal((await phones.messageOf(id)).may_have_been_sent, false);
    const stored = await storedMessages(service, { from: number.phoneNumber });
    assertEach(stored, ({ handOutCount }) => handOutCount, [0], 'it counts as never handed out');
  });

  it('a message that returns to the queue of a deleted number is not handed out again, and fails with number_removed (§3.2/number-removed)', async () => {
    const number = await phones.connect();
    const id = await phones.send(number, 'given back too late');
    const claimant = await claimantOf(number);
    assert.equal(await claimAs(claimant), id);
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    // The sweep has to wait for this lock, so it does not fail the queued message before the test's hand-out.
    const lock = await holdRowLock(service, { usageOf: team.id });
    await giveBackAs(claimant, id);
    assert.equal(await claimAs(claimant), undefined);
    await lock.release();
    await until(
      'the sweep fails it',
      async () => (await phones.messageOf(id)).error_code === 'number_removed',
    );
    assert.equal((await phones.messageOf(id)).may_have_been_sent, false);
  });
});

describe('messages that no phone reports or fetches (specification section 11.4)', () => {
  const phones = givenPhoneTeam();
  const { service } = phones;

  it('the 10 s in which a poll counts as a repeat run from the hand-out', async () => {
    const number = await phones.connect();
    const id = await phones.send(number, 'whose answer was lost');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(7_000);
    const repeat = await heldPoll(service, number);
    const again = await heldPoll(service, number);
    // The answer `idle` shows that a newer poll replaced the repeat: the server has decided about the message.
    assert.equal((await repeat.answer).action, 'idle');
    assert.equal((await phones.messageOf(id)).status, 'polling');
    service.clock.advance(4_000);
    const later = await heldPoll(service, number);
    assert.equal((await again.answer).action, 'idle');
    const failed = await phones.messageOf(id);
    assert.deepEqual([failed.error_code, failed.may_have_been_sent], ['device_timeout', true]);
    const after = await phones.send(number, 'the next one');
    assert.equal((await later.answer).id, after);
  });

  it('a hand-out without a report is unconfirmed when its lease ends (§3.2/device-timeout)', async () => {
    const number = await phones.connect();
    const id = await phones.send(number, 'to a phone that dies');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(595_000);
    await resolveOverdue(service.runtime);
    assert.equal((await phones.messageOf(id)).status, 'polling');
    service.clock.advance(5_000);
    await resolveOverdue(service.runtime);
    assert.equal((await phones.messageOf(id)).error_code, 'device_timeout');
    const other = await phones.send(number, 'settled by the sweep of the service itself');
    assert.equal((await number.wire.poll()).id, other);
    service.clock.advance(600_000);
    await until(
      'the sweep settles it',
      async () => (await phones.messageOf(other)).error_code === 'device_timeout',
    );
  });

  it('a message that waits longer than QUEUE_EXPIRY_HOURS expires and is refunded, also on a paused number (§3.2/expired)', async () => {
    const number = await phones.connect();
    const other = await service.newTeam({ plan: 'pro', monthlyLimit: 3 });
    const mine = await connectNumber(service, other, '+14155550990');
    await other.api.send({ from: mine.phoneNumber, to: '+12125550100', content: 'waits' });
    await other.api.put(`/v1/numbers/${mine.numberId}`, { status: 'paused' });
    const id = await phones.send(number, 'waits too');
    service.clock.advance(24 * 3_600_000 - 60_000);
    await failExpired(service.runtime);
    assert.equal((await phones.messageOf(id)).status, 'queued');
    service.clock.advance(61_000);
    await until('both expired', async () => (await phones.messageOf(id)).error_code === 'expired');
    await until('it is given back', async () => (await acceptedOf(service, other.id)) === 0);
  });
});
