import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phoneQueueChannel } from '#server/database/channels.ts';
import { acceptSends } from '#server/messages/accept-sends.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { hearNotifications } from '#test/support/database/hear-notifications.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { sendRow } from '#test/support/messages/accept-all.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { handOutsOf, storedMessages } from '#test/support/messages/stored-messages.ts';
import { holdPause } from '#test/support/numbers/given-numbers.ts';
import {
  type ConnectedNumber,
  claim,
  connectNumber,
  type FlatAnswer,
  findNumber,
  heldPoll,
} from '#test/support/phones/test-phone.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putSentToday } from '#test/support/usage/given-usage.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';
const holdMs = 3_000;

/** Name of the statement that hands out a message. */
const handOut = 'messages.claim';

describe('a pause (specification section 3.3)', () => {
  const { service, team } = givenTeamBesideCanary({ DEVICE_HOLD_SECONDS: String(holdMs / 1_000) });

  const other = givenRuntime(service);

  const setStatus = async (number: ConnectedNumber, status: string) => {
    const answer = await team.api.put(`/v1/numbers/${number.numberId}`, { status });
    assert.equal(answer.status, 200, answer.text);
  };

  const countHandOuts = async ({ phoneNumber }: ConnectedNumber) =>
    (await handOutsOf(service, phoneNumber)).length;

  it('a pause waits for a hand-out that has begun, which is committed before the PUT answers', async (t) => {
    const number = await connectNumber(service, team, '+14155550110');
    const poll = await heldPoll(service, number);
    // The hand-out stops after it has locked the number's row.
    const inserts = await holdInserts(service, 'hand_outs');
    t.after(() => inserts.end());
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'just in time' });
    await untilBlocked(service, handOut);
    let answered = false;
    const pause = setStatus(number, 'paused').then(() => {
      answered = true;
    });
    await untilBlocked(service, 'numbers.update');
    assert.equal(answered, false);
    await inserts.end();
    assert.equal((await poll.answer).id, id);
    await pause;
    assert.equal(await countHandOuts(number), 1);
  });

  it('a pause holds back a hand-out that meets the lock of the number (§3.3/pause-and-resume)', async (t) => {
    const number = await connectNumber(service, team, '+14155550111');
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'too late' });
    const pause = await holdPause(service, number.phoneNumber);
    t.after(() => pause.release());
    // The hand-out has read the number as active, and meets the lock of the number's row.
    const poll = number.wire.poll();
    await untilTriedAgain(handOut);
    await pause.release();
    assert.equal((await poll).action, 'idle');
    assert.equal(await countHandOuts(number), 0);
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.waiting_reason, 'number_paused');
  });

  it('a pause succeeds under constant sends', async () => {
    const number = await connectNumber(service, team, '+14155550113');
    const row = sendRow({ teamId: team.id, from: number.phoneNumber, to, content: 'load' });
    let isOver = false;
    const load = Array.from({ length: 3 }, async () => {
      while (!isOver) await acceptSends(other, Array(20).fill(row));
    });
    // `setStatus` fails if sends keep the number's lock too long, because the answer is not 200.
    for (let change = 0; change < 20; change += 1)
      await setStatus(number, change % 2 === 0 ? 'paused' : 'active');
    isOver = true;
    await Promise.all(load);
  });

  it('a pause keeps queued messages, which are handed out in order after it (§3.3/pause-and-resume, §4.3/order)', async () => {
    const number = await connectNumber(service, team, '+14155550112');
    const ids: string[] = [];
    for (const content of ['one', 'two', 'three']) {
      ids.push(await team.api.send({ from: number.phoneNumber, to, content }));
    }
    await setStatus(number, 'paused');
    const poll = await heldPoll(service, number);
    const inbound = await number.wire.call('inbound', { from: to, text: 'while it is paused' });
    assert.equal(inbound.ok, '1');
    const notifications = await hearNotifications(service, phoneQueueChannel);
    try {
      await setStatus(number, 'active');
      // A second later a sweep would wake the poll as well, so the test looks at the notification itself.
      await until('the poll is woken', () => notifications.heard.length > 0, 5_000);
    } finally {
      await notifications.stop();
    }
    let answer: FlatAnswer = await poll.answer;
    for (const id of ids) {
      assert.equal(answer.id, id);
      if (id !== ids.at(-1)) answer = await number.wire.poll({ last: id });
    }
  });
});

describe('DELETE /v1/numbers/:id (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();

  const used = () => acceptedOf(service, team.id);

  it('deleting a number is answered {deleted: true}, and its phone gets a stop', async () => {
    const number = await connectNumber(service, team, '+14155550110');
    const answer = await team.api.delete(`/v1/numbers/${number.numberId}`);
    assert.partialDeepStrictEqual(answer, { status: 200, text: '{"deleted":true}' });
    assert.deepEqual(await number.wire.poll(), { action: 'stop', session: 'none', reason: 'deleted' });
    assert.equal(await findNumber(team.api, number.phoneNumber), undefined);
    assert.equal((await team.api.delete(`/v1/numbers/${number.numberId}`)).status, 404);
    assert.equal((await team.api.put(`/v1/numbers/${number.numberId}`, {})).status, 404);
    const send = await team.api.post('/v1/messages/send', { from: number.phoneNumber, to, content: 'a' });
    assert.partialDeepStrictEqual(send, { status: 400, json: { error: { param: 'from' } } });
  });

  it('deleting a number fails and refunds its queued messages, and does not change the message in flight (§3.1/failed, §3.2/number-removed)', async () => {
    const number = await connectNumber(service, team, '+14155550111');
    const before = await used();
    const held = await team.api.send({ from: number.phoneNumber, to, content: 'in the phone’s hands' });
    const queued = await team.api.send({ from: number.phoneNumber, to, content: 'waiting' });
    assert.equal((await number.wire.poll()).id, held);
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    const failed = await team.api.get(`/v1/messages/${queued}`);
    assert.deepEqual(
      [failed.json.status, failed.json.error_code, failed.json.may_have_been_sent],
      ['failed', 'number_removed', false],
    );
    assert.equal((await team.api.get(`/v1/messages/${held}`)).json.status, 'polling');
    assert.equal((await used()) - before, 1);
    // The report of a message that was handed out before the deletion still counts.
    assert.equal((await number.wire.poll({ last: held })).reason, 'deleted');
    assert.equal((await team.api.get(`/v1/messages/${held}`)).json.status, 'sent');
    const events = await storedEvents(service, { teamId: team.id });
    assert.deepEqual(
      events.flatMap(({ numberId, type }) => (numberId === uuidOf('num', number.numberId) ? [type] : [])),
      ['message.failed', 'message.sent'],
    );
  });

  it('deleting a number fails and refunds a send that was not committed yet (§3.2/number-removed)', async (t) => {
    const { numberId, phoneNumber } = await connectNumber(service, team, '+14155550115');
    const before = await used();
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const sending = team.api.send({ from: phoneNumber, to, content: 'Hello' });
    await untilBlocked(service, 'messages.accept-sends');
    const deleting = team.api.delete(`/v1/numbers/${numberId}`);
    await untilBlocked(service, 'usage.lock-months');
    await inserts.end();
    assert.equal((await deleting).status, 200);
    const { json } = await team.api.get(`/v1/messages/${await sending}`);
    assert.deepEqual([json.status, json.error_code], ['failed', 'number_removed']);
    assert.equal(await used(), before);
  });

  it('deleting a pending number ends its setup link', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550112' });
    const device = await claim(team.api, String(verify.json.setup_url));
    const pending = await findNumber(team.api, '+14155550112');
    assert.equal((await team.api.delete(`/v1/numbers/${pending?.id}`)).status, 200);
    assert.equal((await fetch(String(verify.json.setup_url))).status, 404);
    assert.equal((await device.poll()).action, 'stop');
    await assert.rejects(claim(team.api, String(verify.json.setup_url)), /404/);
  });

  it('the phone of a deleted number can be connected again as a new number, here or in another team', async () => {
    const first = await connectNumber(service, team, '+14155550113');
    await team.api.delete(`/v1/numbers/${first.numberId}`);
    const again = await connectNumber(service, team, '+14155550113');
    assert.notEqual(again.numberId, first.numberId);
    assert.equal((await findNumber(team.api, '+14155550113'))?.messages_today, 0);
    await team.api.delete(`/v1/numbers/${again.numberId}`);
    const other = await service.newTeam();
    await connectNumber(service, other, '+14155550113');
    assert.equal((await first.wire.poll()).reason, 'deleted');
  });

  it('only one of several simultaneous deletions of a number is answered 200, and the others 404', async () => {
    const number = await connectNumber(service, team, '+14155550114');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => team.api.delete(`/v1/numbers/${number.numberId}`)),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 404, 404, 404, 404, 404, 404, 404]);
  });

  it('deleting a number fails a part of a long queue at once, and the sweep fails the rest', async () => {
    const owner = await service.newTeam();
    const { numberId, phoneNumber } = await connectNumber(service, owner, '+14155550190');
    const sender = { teamId: owner.id, numberId: uuidOf('num', numberId), phoneNumber };
    await putWaitingMessages(service, sender, 1_203);
    await putSentToday(service, owner.id, 1_203);
    assert.equal((await owner.api.delete(`/v1/numbers/${numberId}`)).status, 200);
    await until('all of them have failed', async () => {
      const stored = await storedMessages(service, { from: phoneNumber });
      return stored.filter(({ errorCode }) => errorCode === 'number_removed').length === 1_203;
    });
    assert.equal(await acceptedOf(service, owner.id), 0);
  });
});
