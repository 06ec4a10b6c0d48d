import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failExpired, resolveOverdue } from '#server/messages/sweep-messages.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { takeTableAway } from '#test/support/database/table-faults.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import {
  assertUnavailable,
  type ConnectedNumber,
  connectNumber,
  DeviceWire,
} from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

describe('reports (specification sections 3.2 and 11.3)', () => {
  const { service, team } = givenTeam();

  const connect = (owner = team) => connectNumber(service, owner);
  const messageOf = async (id: string, owner = team) => (await owner.api.get(`/v1/messages/${id}`)).json;
  /** Lists a message's events in order, as `type sequence`. Asserts that each body matches the columns of its row. */
  const eventsOf = async (id: string) => {
    const events = await storedEvents(service);
    return events.flatMap(({ type, sequence, body }) => {
      const envelope = JSON.parse(body);
      if (envelope.data.id !== id) return [];
      assert.deepEqual([envelope.type, envelope.sequence, envelope.api_version], [type, sequence, 'v1']);
      assert.match(envelope.id, /^evt_/);
      return [`${type} ${sequence}`];
    });
  };
  const send = ({ phoneNumber: from }: ConnectedNumber, content: string, owner = team) =>
    owner.api.send({ from, to: '+12125550100', content });
  /** Makes a message in flight. */
  const handedOut = async (owner = team) => {
    const number = await connect(owner);
    const id = await send(number, 'Hello', owner);
    assert.equal((await number.wire.poll()).id, id);
    return { number, id, wire: number.wire };
  };
  /** Makes a message whose phone reported nothing before its lease ended. */
  const unconfirmed = async () => {
    const handed = await handedOut();
    service.clock.advance(600_001);
    await resolveOverdue(service.runtime);
    return handed;
  };

  it('a message that is repeatedly reported as sent is sent once (§3.1/reported-sent, §3.2/repeated-reports)', async () => {
    const { wire, id } = await handedOut();
    for (let repeat = 0; repeat < 3; repeat += 1) await wire.poll({ last: id });
    const message = await messageOf(id);
    assert.partialDeepStrictEqual(message, { status: 'sent', may_have_been_sent: false });
    assert.deepEqual(await eventsOf(id), ['message.sent 1']);
  });

  it('a message that is reported as failed has the error text of the phone (§3.1/failed, §3.2/device-error)', async () => {
    const { wire, id } = await handedOut();
    await wire.poll({ last: id, last_status: 'failed', last_error: 'No service' });
    const message = await messageOf(id);
    assert.deepEqual(
      [message.status, message.error_code, message.may_have_been_sent],
      ['failed', 'device_error', false],
    );
    assert.match(String(message.error_message), /could not send.*No service/);
    assert.deepEqual(await eventsOf(id), ['message.failed 1']);
  });

  it('only last_status "failed" reports a failure, and every other word reports that the message was sent', async () => {
    for (const word of ['Failed', 'failure', 'none']) {
      const { wire, id } = await handedOut();
      await wire.poll({ last: id, last_status: word });
      assert.equal((await messageOf(id)).status, 'sent', word);
    }
  });

  it('an error text that is “none” or empty counts as missing', async () => {
    for (const words of ['none', '']) {
      const { wire, id } = await handedOut();
      await wire.poll({ last: id, last_status: 'failed', last_error: words });
      assert.equal((await messageOf(id)).error_message, 'The phone could not send the message.');
    }
  });

  it('no poll is answered before its report is committed, even if the answer is a stop', async () => {
    const { wire, id } = await handedOut();
    const stale = new DeviceWire(service.baseUrl, wire.token);
    const unknown = new DeviceWire(service.baseUrl, 'dev_nobody');
    const lock = await holdRowLock(service, { messagesInFlight: true });
    let answered = false;
    let answer: ReturnType<DeviceWire['poll']>;
    try {
      answer = stale.poll({ session: 'ses_01h2xcejqtf2nbrexx3vqjhp41', last: id });
      answer.then(() => {
        answered = true;
      });
      await lock.waiting(1);
      // Polls without a report are answered at once, so the first poll waits only for the commit of its report.
      for (let n = 0; n < 3; n += 1) assert.equal((await unknown.poll()).reason, 'unauthorized');
      assert.equal(answered, false);
    } finally {
      await lock.release();
    }
    assert.equal((await answer).reason, 'superseded');
    assert.equal((await messageOf(id)).status, 'sent');
  });

  it('a poll whose report could not be committed is answered unavailable, and the repeated report counts', async () => {
    const { wire, id } = await handedOut();
    const handOuts = await takeTableAway(service, 'hand_outs');
    try {
      const answer = await wire.poll({ last: id });
      assertUnavailable(answer);
    } finally {
      await handOuts.restore();
    }
    assert.equal((await messageOf(id)).status, 'polling');
    await wire.poll({ last: id });
    assert.equal((await messageOf(id)).status, 'sent');
  });

  it('a report for a message of another number, or for one that was never handed out, changes nothing (§3.2/report-matching)', async () => {
    const mine = await handedOut();
    const other = await handedOut();
    await other.wire.poll({ last: mine.id });
    assert.equal((await messageOf(mine.id)).status, 'polling');
    const queued = await send(mine.number, 'queued');
    const answer = await mine.wire.call('status', { id: queued, status: 'delivered' });
    assert.deepEqual(answer, { ok: '0', reason: 'unknown_message' });
    assert.equal((await messageOf(queued)).status, 'queued');
    assert.deepEqual(await eventsOf(queued), []);
  });

  it('a late report “sent” within 72 hours changes a message from device_timeout to sent (§3.1/late-report, §3.2/late-reports)', async () => {
    const { wire, id } = await unconfirmed();
    // The 72 hours begin with the hand-out, 10 minutes before the time-out of the message.
    service.clock.advance(72 * 3_600_000 - 600_001 - 60_000);
    await wire.poll({ last: id });
    const message = await messageOf(id);
    assert.deepEqual([message.status, message.error_code, message.failed_at], ['sent', null, null]);
    assert.deepEqual(await eventsOf(id), ['message.failed 1', 'message.sent 2']);
  });

  it('a report after 72 hours corrects nothing, and only device_timeout is ever corrected (§3.2/late-reports)', async () => {
    const { wire, id } = await unconfirmed();
    service.clock.advance(72 * 3_600_000 - 600_001 + 1);
    await wire.poll({ last: id });
    assert.equal((await messageOf(id)).status, 'failed');
    const failed = await handedOut();
    await failed.wire.poll({ last: failed.id, last_status: 'failed' });
    await failed.wire.poll({ last: failed.id });
    assert.equal((await messageOf(failed.id)).error_code, 'device_error');
  });

  it('a late report “sent” counts even after the number was deleted (§3.2/late-reports)', async () => {
    const { wire, id, number } = await unconfirmed();
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    assert.equal((await wire.poll({ last: id })).reason, 'deleted');
    assert.equal((await messageOf(id)).status, 'sent');
  });

  it('an unconfirmed hand-out of a deleted number is not retried', async () => {
    const { id, number } = await handedOut();
    await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    service.clock.advance(600_001);
    await resolveOverdue(service.runtime);
    const message = await messageOf(id);
    assert.deepEqual([message.error_code, message.may_have_been_sent], ['device_timeout', true]);
  });

  it('a message that is reported as delivered before it was reported as sent becomes sent first (§3.1/no-other-steps, §6.1/one-per-change, §8/plan-media)', async () => {
    const polling = await handedOut();
    await polling.wire.call('status', { id: polling.id, status: 'delivered' });
    assert.equal((await messageOf(polling.id)).status, 'delivered');
    assert.deepEqual(await eventsOf(polling.id), ['message.sent 1', 'message.delivered 2']);
    const late = await unconfirmed();
    await late.wire.call('status', { id: late.id, status: 'delivered' });
    assert.deepEqual(await eventsOf(late.id), ['message.failed 1', 'message.sent 2', 'message.delivered 3']);
  });

  it('the events message.sent and message.delivered have the times of the message (§6.2/envelope)', async () => {
    const { wire, id } = await handedOut();
    await wire.poll({ last: id });
    await wire.call('status', { id, status: 'delivered' });
    const { created_at, sent_at, delivered_at } = await messageOf(id);
    const events = await storedEvents(service, { messageId: uuidOf('msg', id) });
    assert.partialDeepStrictEqual(
      events.map((event) => JSON.parse(event.body)),
      [
        { type: 'message.sent', data: { status: 'sent', created_at, sent_at } },
        { type: 'message.delivered', data: { status: 'delivered', created_at, sent_at, delivered_at } },
      ],
    );
  });

  it('a report “not delivered” counts only from a device that can report deliveries (§3.1/failed, §3.2/not-delivered)', async () => {
    const { wire, id } = await handedOut();
    await wire.poll({ last: id });
    await wire.poll({ last: id, last_status: 'failed' });
    assert.equal((await messageOf(id)).status, 'sent', 'a poll that contradicts itself changes nothing');
    assert.equal((await wire.call('status', { id, status: 'failed', error: 'Not Delivered' })).ok, '1');
    const message = await messageOf(id);
    assert.deepEqual([message.status, message.error_code], ['failed', 'not_delivered']);
    assert.deepEqual(await eventsOf(id), ['message.sent 1', 'message.failed 2']);
  });

  it('a report of delivery on the plan free changes the status and makes no event (§6.1/one-per-change, §8/plan-media)', async () => {
    const free = await service.newTeam({ plan: 'free' });
    const { number, wire, id } = await handedOut(free);
    await wire.call('status', { id, status: 'delivered' });
    assert.equal((await messageOf(id, free)).status, 'delivered');
    assert.deepEqual(await eventsOf(id), ['message.sent 1']);
    const [message] = await storedMessages(service, { from: number.phoneNumber });
    assert.equal(message?.lastEventSequence, 1, 'no sequence number is used up');
  });

  describe('retry_once (specification section 3.1)', () => {
    /** Makes a message that is queued again after its first hand-out was not reported. */
    const retried = async (owner = team) => {
      const handed = await handedOut(owner);
      await owner.api.put(`/v1/numbers/${handed.number.numberId}`, { on_unconfirmed: 'retry_once' });
      service.clock.advance(600_001);
      await resolveOverdue(service.runtime);
      return handed;
    };
    const restart = async (handed: { wire: DeviceWire }) => {
      const wire = new DeviceWire(service.baseUrl, handed.wire.token);
      return { wire, answer: await wire.poll() };
    };

    it('a retried message is handed out a second time before later messages, and never a third time (§3.1/retry-once, §3.2/handed-out-once)', async () => {
      const handed = await retried();
      const message = await messageOf(handed.id);
      assert.equal(message.may_have_been_sent, true);
      const later = await send(handed.number, 'later');
      const { wire, answer } = await restart(handed);
      assert.equal(answer.id, handed.id);
      service.clock.advance(600_001);
      await resolveOverdue(service.runtime);
      assert.equal((await messageOf(handed.id)).error_code, 'device_timeout');
      assert.equal((await wire.poll({ session: 'new' })).id, later);
      assert.deepEqual(await eventsOf(handed.id), ['message.failed 1']);
    });

    it('a report that the first hand-out was sent cancels the waiting retry (§3.1/sent-while-retry-waits, §3.2/report-matching)', async () => {
      const handed = await retried();
      await handed.wire.poll({ last: handed.id });
      assert.equal((await messageOf(handed.id)).status, 'sent');
      assert.deepEqual(await eventsOf(handed.id), ['message.sent 1']);
      assert.equal((await handed.wire.poll()).action, 'idle');
      const later = await send(handed.number, 'later');
      assert.equal((await handed.wire.poll()).id, later, 'it is out of the way of what came later');
    });

    it('a failure report of the first hand-out does not count for the second (§3.2/report-matching)', async () => {
      const handed = await retried();
      const { wire, answer } = await restart(handed);
      assert.equal(answer.id, handed.id);
      await handed.wire.poll({ last: handed.id, last_status: 'failed' });
      assert.equal((await messageOf(handed.id)).status, 'polling');
      await wire.poll({ last: handed.id });
      assert.equal((await messageOf(handed.id)).status, 'sent');
    });

    it('a late report that the first hand-out was sent makes the message sent, while its second hand-out stays in flight (§3.2/report-matching)', async () => {
      const handed = await retried();
      const { wire, answer } = await restart(handed);
      assert.equal(answer.id, handed.id);
      await handed.wire.poll({ last: handed.id });
      assert.equal((await messageOf(handed.id)).status, 'sent');
      const later = await send(handed.number, 'later');
      assert.equal((await messageOf(later)).waiting_reason, 'phone_busy');
      assert.equal((await wire.poll({ last: handed.id })).id, later);
    });

    type Retried = Awaited<ReturnType<typeof retried>>;
    /** The words of each error, and a function that ends a retried message with that error. */
    const ends: Record<string, [RegExp, (handed: Retried, owner: TestTeam) => Promise<unknown>]> = {
      cancelled: [/was cancelled/, ({ id }, { api }) => api.post(`/v1/messages/${id}/cancel`)],
      number_removed: [
        /number was deleted/,
        ({ number }, { api }) => api.delete(`/v1/numbers/${number.numberId}`),
      ],
      opted_out: [
        /opted out before a phone picked the message up again\./,
        ({ wire }) => wire.call('inbound', { from: '+12125550100', text: 'STOP' }),
      ],
      expired: [
        /No phone picked/,
        async () => {
          service.clock.advance(24 * 3_600_000);
          while ((await failExpired(service.runtime)) > 0);
        },
      ],
      device_error: [
        /could not send.*No service/,
        async (handed) => {
          const { wire } = await restart(handed);
          await wire.poll({ last: handed.id, last_status: 'failed', last_error: 'No service' });
        },
      ],
    };
    for (const [code, [own, end]] of Object.entries(ends))
      it(`a retried message that fails with ${code} may have been sent, and stays counted (§3.2/refund)`, async () => {
        const owner = await service.newTeam();
        const handed = await retried(owner);
        await end(handed, owner);
        const message = await messageOf(handed.id, owner);
        assert.deepEqual([message.error_code, message.may_have_been_sent], [code, true]);
        const events = await storedEvents(service, { messageId: uuidOf('msg', handed.id) });
        const inEvent = JSON.parse(events.find(({ type }) => type === 'message.failed')?.body ?? '');
        for (const text of [String(message.error_message), inEvent.data.error_message]) {
          assert.match(text, own);
          assert.match(text, /A phone took it once and did not confirm it, so it may have been sent/);
          assert.doesNotMatch(text, /picked (it|the message) up\.|send it again\./i);
        }
        assert.equal(await acceptedOf(service, owner.id), 1);
      });
  });
});
