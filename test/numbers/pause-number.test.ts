import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phoneQueueChannel } from '#server/database/channels.ts';
import { acceptSends } from '#server/messages/accept-sends.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { hearNotifications } from '#test/support/database/hear-notifications.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { sendRow } from '#test/support/messages/accept-all.ts';
import { handOutsOf } from '#test/support/messages/stored-messages.ts';
import { holdPause } from '#test/support/numbers/given-numbers.ts';
import {
  type ConnectedNumber,
  connectNumber,
  type FlatAnswer,
  heldPoll,
} from '#test/support/phones/test-phone.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

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

  it('a pause waits for the commit of a hand-out that has begun, before its request is answered', async (t) => {
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

  it('a number that is paused while a hand-out waits for its lock hands out no message (§3.3/pause-and-resume)', async (t) => {
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

  it('a pause succeeds while sends arrive constantly', async () => {
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

  it('a pause keeps queued messages, and they are handed out in order after it (§3.3/pause-and-resume, §4.3/order)', async () => {
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
