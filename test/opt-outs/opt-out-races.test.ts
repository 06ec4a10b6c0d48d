import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failOptedOut, resolveOverdue, returnedMessagesMs } from '#server/messages/sweep-messages.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { queuedMessages, storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putSentToday } from '#test/support/usage/given-usage.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

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

  it('a send that meets the locks of an opt-out is tried again, and is refused or fails once the opt-out is committed (§4.6/races, §4.6/refused-sends)', async (t) => {
    await receive('Hello');
    // The opt-out locks the month's usage row. A send that is cancelled and refunded creates that row here.
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
      // The send's statement began before the commit of the opt-out, and locked the row of the month after it.
      assert.equal(await failOptedOut(service.runtime, minuteMs), 1);
      await assertFailed(String(answer.json.id));
    } else {
      assert.equal(answer.status, 400, answer.text);
      assert.match(String(field(answer.json, 'error.message')), /opted out/);
    }
    assert.equal(await acceptedOf(service, team.id), 0);
  });

  it('an opt-out fails a send that was not committed yet, and a repeat of that send to another process gets its 202 (§4.6/races, §4.3/idempotency-key)', async (t) => {
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

  it('a claim that waits for a locked number takes no message to a contact that opts out meanwhile (§4.6/races)', async () => {
    const id = await send();
    const claim = await holdRowLock(service, { phoneNumber: number.phoneNumber }, 'no key update');
    const polled = number.wire.poll();
    await untilTriedAgain('messages.claim');
    assert.equal((await receive('STOP')).ok, '1');
    await claim.release();
    assert.equal((await polled).action, 'idle');
    await assertFailed(id);
  });

  it('an opt-out that waits for a claim does not fail the message that the phone took (§4.6/queued-messages, §4.6/races)', async () => {
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

  it('a message that returns to the queue after its contact opted out is not handed out again, and fails (§4.6/races)', async () => {
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

  it('an opt-out fails 500 messages of a long queue at once and the sweep the rest, and none of them is handed out (§4.6/queued-messages)', async () => {
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

  it('the sweep fails no message to a contact that has opted in again (§4.6/races)', async () => {
    await receive('STOP');
    await receive('START');
    const id = await send();
    assert.equal(await failOptedOut(service.runtime, minuteMs), 0);
    assert.equal((await get(id)).status, 'queued');
  });
});
