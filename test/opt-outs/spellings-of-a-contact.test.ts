import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { storedConversation } from '#test/support/messages/stored-messages.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

/** Pairs of spellings that reach the same phone. */
const spellings = [
  ['+447911123456', '+4407911123456'],
  ['+491701234567', '+4901701234567'],
  ['+33612345678', '+330612345678'],
  ['+525512345678', '+5215512345678'],
] as const;

describe('phone numbers with several spellings (specification section 4.6)', () => {
  let team: TestTeam;
  const service = givenService();

  const sendTo = async (to: string, from: string) =>
    team.api.post('/v1/messages/send', { from, to, content: to });

  it('both spellings of a phone number are one contact, and other numbers stay as they are (§4.6/spellings)', () => {
    for (const [number, other] of spellings)
      assert.deepEqual([contactOf(number), contactOf(other)], [number, number]);
    // In Italy, the Ivory Coast and Gabon the 0 is part of the number. Most other numbers here are too short or too
    // long to have two spellings.
    for (const kept of [
      '+390612345678',
      '+2250123456789',
      '+24106031234',
      '+14155550101',
      '+521551234567',
      '+52155123456789',
      '+44079111234567',
      '+440',
      '262626',
      'Ada',
      '+440@example.com',
    ])
      assert.equal(contactOf(kept), kept);
  });

  it('STOP, PUT and DELETE with one spelling of a number apply to sends to its other spellings (§4.6/spellings, §4.6/refused-sends)', async () => {
    team = await service.newTeam();
    const number = await connectNumber(service, team);
    for (const pair of spellings) {
      for (const [stops, sends] of [pair, pair.toReversed()]) {
        const { ok, id } = await number.wire.call('inbound', { from: stops, text: 'STOP' });
        assert.equal(ok, '1');
        assert.equal((await team.api.get(`/v1/messages/${id}`)).json.from, pair[0]);
        const refused = await sendTo(String(sends), number.phoneNumber);
        assert.equal(refused.status, 400, refused.text);
        assert.ok(refused.text.includes(encodeURIComponent(pair[0])), refused.text);
        const path = `/v1/opt-outs/${encodeURIComponent(String(sends))}`;
        assert.equal((await team.api.delete(path)).status, 200);
        assert.equal((await team.api.request('PUT', path)).json.contact, pair[0]);
        assert.equal((await sendTo(String(stops), number.phoneNumber)).status, 400);
        assert.equal((await team.api.delete(path)).status, 200);
        service.clock.advance(60_000);
      }
    }
  });

  it('an opt-out fails queued messages to any spelling of its contact, and each message keeps its own spelling (§4.6/spellings, §4.6/queued-messages)', async () => {
    team = await service.newTeam();
    const number = await connectNumber(service, team);
    for (const [contact, other] of spellings) {
      const ids: string[] = [];
      for (const to of [contact, other]) ids.push(String((await sendTo(to, number.phoneNumber)).json.id));
      await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(contact)}`);
      const messages = await Promise.all(
        ids.map(async (id) => (await team.api.get(`/v1/messages/${id}`)).json),
      );
      assertEach(
        messages,
        ({ to, error_code }) => [to, error_code],
        [contact, other].map((to) => [to, 'opted_out']),
      );
      const listed = await team.api.get(`/v1/messages?to=${encodeURIComponent(other)}`);
      assertEach(listed.json.messages as { id: string }[], ({ id }) => id, ids.slice(1));
    }
  });

  it('a message that returned to the queue belongs to the contact’s one conversation, whatever spelling it was sent to (§4.6/spellings)', async () => {
    team = await service.newTeam();
    const number = await connectNumber(service, team);
    const phone = await DirectPhone.of(service, number);
    const [contact, other] = spellings[0];
    const id = String((await sendTo(other, number.phoneNumber)).json.id);
    const claim = await phone.claim(service.runtime);
    assert.equal(claim?.kind, 'hand_out');
    if (claim?.kind !== 'hand_out') return;
    assert.equal(claim.handOut.to_handle, other, 'the phone gets it as it was given');
    const conversation = (of: string) => storedConversation(service, number.phoneNumber, of);
    assert.equal((await conversation(contact))?.openedBy, 'team');
    assert.equal(await conversation(other), undefined);
    await phone.release(service.runtime, claim.handOut);
    assert.equal(await conversation(contact), undefined, 'the release forgets it');
    await number.wire.call('inbound', { from: contact, text: 'STOP' });
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.error_code, 'opted_out');
  });

  it('a failure report and the end of a lease apply to the contact, whatever spelling the message was sent to (§4.6/spellings, §8/pacing-unanswered)', async () => {
    team = await service.newTeam();
    const number = await connectNumber(service, team);
    await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
    const phone = await DirectPhone.of(service, number);
    const [contact, other] = spellings[0];
    await sendTo(other, number.phoneNumber);
    const claim = await phone.claim(service.runtime);
    assert.ok(claim?.kind === 'hand_out');
    await phone.report(service.runtime, claim.handOut, 'failed');
    assert.equal((await storedConversation(service, number.phoneNumber, contact))?.unansweredCount, 0);

    service.clock.advance(60_000);
    const id = String((await sendTo(other, number.phoneNumber)).json.id);
    assert.equal((await phone.claim(service.runtime))?.kind, 'hand_out');
    service.clock.advance(601_000);
    await resolveOverdue(service.runtime);
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'queued');
    await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(contact)}`);
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.error_code, 'opted_out');
  });
});
