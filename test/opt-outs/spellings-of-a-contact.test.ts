import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failOptedOut, resolveOverdue, returnedMessagesMs } from '#server/messages/sweep-messages.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import {
  queuedMessages,
  storedConversation,
  storedMessages,
} from '#test/support/messages/stored-messages.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { putSentToday } from '#test/support/usage/given-usage.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

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

const contact = '+14155550101';
const minuteMs = 60_000;

describe('a send or hand-out that races an opt-out (specification section 4.6)', () => {
  // No sweep runs in the background: a test checks the state before it runs the sweep.
  const service = givenService({ ROLES: 'api' });
  const team = givenEach(() => service.newTeam());
  const number = givenEach(() => connectNumber(service, team, newPhoneNumber()));
  const other = givenEach(() => connectNumber(service, team, newPhoneNumber()));

  const receive = (text: string, through = other) => through.wire.call('inbound', { from: contact, text });
  const body = (to = contact) => ({ from: number.phoneNumber, to, content: 'Hello' });
  const send = (to?: string) => team.api.send(body(to));
  const get = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;

  async function assertFailed(id: string, mayHaveBeenSent = false): Promise<void> {
    const message = await get(id);
    assert.deepEqual(
      [message.status, message.error_code, message.may_have_been_sent],
      ['failed', 'opted_out', mayHaveBeenSent],
    );
  }

  it('a send that meets the locks of an opt-out is tried again, and is refused or fails once that is committed (§4.6/races, §4.6/refused-sends)', async (t) => {
    await receive('Hello');
    // The opt-out locks the month's usage row, which an earlier send, cancelled and refunded, creates here.
    await team.api.post(`/v1/messages/${await send('+14155550103')}/cancel`);
    const stop = await holdRowLock(service, { receivedCountOf: team.id });
    t.after(() => stop.release());
    const stopped = receive('STOP');
    await stop.waiting(1);
    const sending = team.api.post('/v1/messages/send', body());
    await untilTriedAgain('messages.accept-sends');
    await stop.release();
    assert.equal((await stopped).ok, '1');
    const answer = await sending;
    if (answer.status === 202) {
      // Its statement began before the commit, and locked the row of the month after it.
      assert.equal(await failOptedOut(service.runtime, minuteMs), 1);
      await assertFailed(String(answer.json.id));
    } else {
      assert.equal(answer.status, 400, answer.text);
      assert.match(String(field(answer.json, 'error.message')), /opted out/);
    }
    assert.equal(await acceptedOf(service, team.id), 0);
  });

  it('an opt-out fails a send that was not committed yet, and its repeat to another process gets the 202 (§4.6/races, §4.3/idempotency-key)', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    await receive('Hello');
    await send('+14155550103');
    const post = (api: ApiClient) => api.post('/v1/messages/send', body(), { 'idempotency-key': 'one' });
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const sending = post(team.api);
    await untilBlocked(service, 'messages.accept-sends');
    const stopped = receive('STOP');
    await untilBlocked(service, 'usage.lock-months');
    const repeating = post(new ApiClient(second.baseUrl, team.api.key));
    await inserts.end();
    const [accepted, repeated] = [await sending, await repeating];
    assert.deepEqual([accepted.status, repeated.status], [202, 202], repeated.text);
    assert.equal(repeated.json.id, accepted.json.id);
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    assert.equal((await stopped).ok, '1');
    await assertFailed(String(accepted.json.id));
  });

  it('a claim of a locked number takes no message to a contact that opts out meanwhile (§4.6/races)', async () => {
    const id = await send();
    const claim = await holdRowLock(service, { phoneNumber: number.phoneNumber }, 'no key update');
    const polled = number.wire.poll();
    await untilTriedAgain('messages.claim');
    assert.equal((await receive('STOP')).ok, '1');
    await claim.release();
    assert.equal((await polled).action, 'idle');
    await assertFailed(id);
  });

  it('an opt-out that waits for a claim leaves the message to the phone that took it (§4.6/queued-messages, §4.6/races)', async () => {
    const id = await send();
    const later = await send();
    const inserts = await holdInserts(service, 'hand_outs');
    const polled = number.wire.poll();
    await untilBlocked(service, 'messages.claim');
    const stopped = receive('STOP');
    await untilBlocked(service, '', 2);
    await inserts.end();
    assert.equal((await polled).id, id);
    assert.equal((await stopped).ok, '1');
    assert.equal((await get(id)).status, 'polling');
    await assertFailed(later);
    assert.equal((await number.wire.poll({ last: id })).action, 'idle');
    assert.equal((await get(id)).status, 'sent');
  });

  it('a message that returns to the queue after the opt-out is not handed out again, and fails (§4.6/races)', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
    const id = await send();
    assert.equal((await number.wire.poll()).id, id);
    await receive('STOP');
    service.clock.advance(601_000);
    await resolveOverdue(service.runtime);
    assert.equal((await get(id)).status, 'queued');
    assert.equal((await number.wire.poll()).action, 'idle');
    assert.equal(await failOptedOut(service.runtime, minuteMs), 0, 'the opt-out is older than that');
    assert.equal(await failOptedOut(service.runtime, returnedMessagesMs(service.runtime)), 1);
    await assertFailed(id, true);
  });

  it('an opt-out fails 500 messages of a long queue and the sweep the rest, and none is handed out (§4.6/queued-messages)', async () => {
    const { phoneNumber, numberId } = number;
    const sender = { teamId: team.id, numberId: uuidOf('num', numberId), phoneNumber };
    await putWaitingMessages(service, sender, 530);
    await putSentToday(service, team.id, 530);
    const unrelated = await send('+14155550102');
    await receive('STOP');
    const waiting = () => queuedMessages(service, { teamId: team.id });
    assert.equal((await waiting()).length, 31);
    assert.equal((await number.wire.poll()).id, unrelated);
    assert.equal(await failOptedOut(service.runtime, minuteMs), 30);
    assert.deepEqual(await waiting(), []);
    const failed = await storedMessages(service, { teamId: team.id, to: contact });
    assert.deepEqual(new Set(failed.map(({ errorCode }) => errorCode)), new Set(['opted_out']));
    assert.equal(await acceptedOf(service, team.id), 1);
  });

  it('the sweep fails no message to a contact that opted in again (§4.6/races)', async () => {
    await receive('STOP');
    await receive('START');
    const id = await send();
    assert.equal(await failOptedOut(service.runtime, minuteMs), 0);
    assert.equal((await get(id)).status, 'queued');
  });
});
