import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failOptedOut, resolveOverdue, returnedMessagesMs } from '#server/messages/sweep-messages.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { queuedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

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

  it('a send that waits for the opt-out’s commit is accepted, never handed out, and failed by the sweep (§4.6/races)', async () => {
    await receive('Hello');
    // The opt-out locks the month's usage row, which an earlier send, cancelled and refunded, creates here.
    await team.api.post(`/v1/messages/${await send('+14155550103')}/cancel`);
    const stop = await holdRowLock(service, { receivedCountOf: team.id });
    const stopped = receive('STOP');
    await stop.waiting(1);
    const sending = team.api.post('/v1/messages/send', body());
    await stop.waiting(2);
    await stop.release();
    assert.equal((await stopped).ok, '1');
    const answer = await sending;
    // The statement of this send began before the opt-out was committed, so it does not see the opt-out.
    assert.equal(answer.status, 202, answer.text);
    const id = String(answer.json.id);
    assert.equal((await number.wire.poll()).action, 'idle');
    const next = await send('+14155550102');
    assert.equal((await number.wire.poll()).id, next, 'later messages to others are not held up');
    assert.equal((await get(id)).status, 'queued');
    assert.equal(await failOptedOut(service.runtime, minuteMs), 1);
    await assertFailed(id);
    assert.equal(await acceptedOf(service, team.id), 1);
    assert.equal(await failOptedOut(service.runtime, minuteMs), 0);
  });

  it('a repeat of a send that raced the opt-out gets its 202, from another process too (§4.6/refused-sends, §4.3/idempotency-key)', async () => {
    const second = await service.startAnother();
    try {
      await receive('Hello');
      await team.api.post(`/v1/messages/${await send('+14155550103')}/cancel`);
      const post = (api: ApiClient) => api.post('/v1/messages/send', body(), { 'idempotency-key': 'one' });
      const stop = await holdRowLock(service, { receivedCountOf: team.id });
      const stopped = receive('STOP');
      await stop.waiting(1);
      const sending = post(team.api);
      await stop.waiting(2);
      const accepting = await holdRowLock(service, { phoneNumber: number.phoneNumber }, 'no key update');
      await stop.release();
      assert.equal((await stopped).ok, '1');
      await accepting.waiting(1);
      // The repeat sees the opt-out, and waits for the uncommitted row of the same idempotency key.
      const repeating = post(new ApiClient(second.baseUrl, team.api.key));
      await accepting.waiting(2);
      await accepting.release();
      const [accepted, repeated] = [await sending, await repeating];
      assert.deepEqual([accepted.status, repeated.status], [202, 202], repeated.text);
      assert.equal(repeated.json.id, accepted.json.id);
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
      assert.equal(await failOptedOut(service.runtime, minuteMs), 1);
    } finally {
      await second.close();
    }
  });

  it('a claim that waits while the contact opts out takes no message (§4.6/races)', async () => {
    const id = await send();
    const claim = await holdRowLock(service, { phoneNumber: number.phoneNumber }, 'no key update');
    const polled = number.wire.poll();
    await claim.waiting(1);
    assert.equal((await receive('STOP')).ok, '1');
    await claim.release();
    assert.equal((await polled).action, 'idle');
    await assertFailed(id);
  });

  it('an opt-out that waits for a claim leaves the message to the phone that took it (§4.6/queued-messages, §4.6/races)', async () => {
    const id = await send();
    const later = await send();
    const claim = await holdRowLock(service, { messagesTo: contact });
    const polled = number.wire.poll();
    await claim.waiting(1);
    const stopped = receive('STOP');
    await claim.waiting(2);
    await claim.release();
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
    const ids = await Promise.all(Array.from({ length: 530 }, () => send()));
    const unrelated = await send('+14155550102');
    await receive('STOP');
    const waiting = () => queuedMessages(service, { teamId: team.id });
    assert.equal((await waiting()).length, 31);
    assert.equal((await number.wire.poll()).id, unrelated);
    assert.equal(await failOptedOut(service.runtime, minuteMs), 30);
    assert.deepEqual(await waiting(), []);
    for (const id of ids.slice(-40)) await assertFailed(id);
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
