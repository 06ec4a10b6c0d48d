import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failExpired, purgeRecentHandOuts, resolveOverdue } from '#server/messages/sweep-messages.ts';
import { storedConversation } from '#test/support/messages/stored-conversations.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { heldPoll } from '#test/support/phones/held-poll.ts';
import { contactAt, givenPacedTeam } from '#test/support/phones/paced-team.ts';
import type { ConnectedNumber } from '#test/support/phones/test-phone.ts';

const hourMs = 3_600_000;
const noGap = { gap_min_seconds: 0, gap_max_seconds: 0 };

describe('the counts of pacing (specification section 8)', () => {
  const paced = givenPacedTeam();
  const { service, team } = paced;

  const connect = (pacing: object) => paced.connect({ ...noGap, ...pacing });
  const handOut = async (phone: DirectPhone) => {
    const claim = await phone.claim(service.runtime);
    assert.ok(claim?.kind === 'hand_out');
    return claim.handOut;
  };
  const unanswered = async ({ phoneNumber }: ConnectedNumber, contact: number) =>
    (await storedConversation(service, phoneNumber, contactAt(contact)))?.unansweredCount;
  const assertHeld = async (phone: DirectPhone) =>
    assert.equal((await phone.claim(service.runtime))?.kind, 'paced');

  it('a message that the phone could not send does not count as unanswered, however often the failure is reported (§8/pacing-unanswered)', async () => {
    const { number, phone } = await connect({ mode: 'strict', unanswered_per_contact: 2 });
    await paced.send(number, 1);
    await phone.send(service.runtime);
    for (let failures = 0; failures < 3; failures += 1) {
      await paced.send(number, 1);
      const failed = await handOut(phone);
      assert.equal(await unanswered(number, 1), 2);
      for (let reports = 0; reports < 2; reports += 1) await phone.report(service.runtime, failed, 'failed');
      assert.equal(await unanswered(number, 1), 1);
    }
    const last = await paced.send(number, 1);
    assert.equal(await phone.send(service.runtime), last);
    await paced.send(number, 1);
    await assertHeld(phone);
  });

  it('a late failure report lowers the count of unanswered messages by one, unless the contact has replied or the message was sent (§8/pacing-unanswered)', async () => {
    const { number, phone } = await connect({ mode: 'strict' });
    await paced.send(number, 1);
    const late = await handOut(phone);
    service.clock.advance(hourMs);
    await resolveOverdue(service.runtime);
    assert.equal(await unanswered(number, 1), 1, 'in doubt, so it counts');
    for (let reports = 0; reports < 2; reports += 1) await phone.report(service.runtime, late, 'failed');
    assert.equal(await unanswered(number, 1), 0);
    await paced.send(number, 1);
    const answered = await handOut(phone);
    service.clock.advance(1_000);
    await number.wire.call('inbound', { from: contactAt(1), text: 'Hi' });
    service.clock.advance(hourMs);
    await resolveOverdue(service.runtime);
    await paced.send(number, 1);
    const sent = await handOut(phone);
    await phone.report(service.runtime, sent);
    await phone.report(service.runtime, answered, 'failed');
    await phone.report(service.runtime, sent, 'failed');
    assert.equal(await unanswered(number, 1), 1);
  });

  it('a released hand-out no longer counts for pacing, and earlier hand-outs still do (§8/pacing-rows)', async () => {
    const { number, phone } = await connect({ messages_per_hour: 2 });
    for (let sends = 0; sends < 3; sends += 1) await paced.send(number, 1);
    await phone.send(service.runtime);
    await phone.release(service.runtime, await handOut(phone));
    assert.equal(typeof (await phone.send(service.runtime)), 'string');
    await assertHeld(phone);
  });

  it('a conversation that the contact opened does not count as a new contact (§8/pacing-new-contacts)', async () => {
    const { number, phone } = await connect({ mode: 'strict', new_contacts_per_hour: 1 });
    await number.wire.call('inbound', { from: contactAt(1), text: 'Hi' });
    const opening = await paced.send(number, 2);
    assert.equal(await phone.send(service.runtime), opening);
    await paced.send(number, 3);
    await assertHeld(phone);
  });

  it('the limit of a day holds for the whole day, though old hand-outs are deleted (§8/pacing-windows)', async () => {
    const { number, phone } = await connect({ messages_per_day: 1 });
    for (let sends = 0; sends < 2; sends += 1) await paced.send(number, 1);
    await phone.send(service.runtime);
    service.clock.advance(23.9 * hourMs);
    await purgeRecentHandOuts(service.runtime);
    await (await heldPoll(service, number)).leaveNoticed();
    const claim = await (await DirectPhone.of(service, number)).claim(service.runtime);
    assert.equal(claim?.kind, 'paced');
  });

  it('a message that waits for its media expires on a paced number too (§3.2/expired)', async () => {
    const { number, phone } = await connect({ messages_per_day: 1 });
    await paced.send(number, 1);
    await phone.send(service.runtime);
    const body = { from: number.phoneNumber, to: contactAt(1), content: 'Look' };
    const media_url = 'https://example.com/picture.png';
    const { json } = await team.api.post('/v1/messages/send', { ...body, media_url });
    const text = await paced.send(number, 2);
    service.clock.advance(23 * hourMs);
    await (await heldPoll(service, number)).leaveNoticed();
    service.clock.advance(2 * hourMs);
    await failExpired(service.runtime);
    assert.equal((await team.api.get(`/v1/messages/${json.id}`)).json.error_code, 'expired');
    assert.equal((await team.api.get(`/v1/messages/${text}`)).json.error_code, null);
  });

  it('hand-outs and new conversations that lie over 10 s in the future after a backward clock step do not count (§8/pacing-rows)', async () => {
    const limits = { mode: 'strict', new_contacts_per_hour: 1 };
    const [hour, contacts] = [await connect({ messages_per_hour: 1 }), await connect(limits)];
    for (const { number, phone } of [hour, contacts]) {
      for (let contact = 0; contact < 2; contact += 1) await paced.send(number, contact);
      await phone.send(service.runtime);
    }
    service.clock.jump(-6_000);
    for (const { phone } of [hour, contacts]) await assertHeld(phone);
    service.clock.jump(-14_000);
    for (const { phone } of [hour, contacts])
      assert.equal(typeof (await phone.send(service.runtime)), 'string');
  });
});
