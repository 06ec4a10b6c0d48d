import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failExpired, resolveOverdue } from '#server/messages/sweep-messages.ts';
import { givenPhoneTeam } from '#test/support/phones/phone-team.ts';
import { connectNumber, heldPoll } from '#test/support/phones/test-phone.ts';
import { until } from '#test/support/service/until.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

describe('messages that no phone reports or fetches (specification section 11.4)', () => {
  const phones = givenPhoneTeam();
  const { service } = phones;

  it('a poll within 10 s after a hand-out counts as a repeat, and a later poll ends the hand-out', async () => {
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
