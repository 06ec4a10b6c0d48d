import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pacedCheckMaxMs } from '#server/device-protocol/limits.ts';
import { purgeRecentHandOuts } from '#server/messages/purge-messages.ts';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { handOutsOf, storedConversation } from '#test/support/messages/stored-messages.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { contactAt, givenPacedTeam } from '#test/support/phones/phone-team.ts';
import { type ConnectedNumber, DeviceWire, heldPoll } from '#test/support/phones/test-phone.ts';
import { until } from '#test/support/service/until.ts';

const hourMs = 3_600_000;
const noGap = { gap_min_seconds: 0, gap_max_seconds: 0 };

describe('pacing (specification section 8)', () => {
  const paced = givenPacedTeam();
  const { service, team } = paced;

  const sendMany = async (number: ConnectedNumber, count: number, contactOf: (index: number) => number) => {
    for (let index = 0; index < count; index += 1) await paced.send(number, contactOf(index));
  };
  /**
   * Sends messages and waits for each gap, until pacing delays the next message for more than `longestGapMs`.
   * @returns the number sent, and the time until which the next message is delayed
   */
  const sendUntilHeld = async (phone: DirectPhone, longestGapMs = 5_000) => {
    for (let sent = 0; ; ) {
      const next = await phone.send(service.runtime);
      if (typeof next === 'string') sent += 1;
      else if (!(next instanceof Date)) return { sent, until: next };
      else {
        const waitMs = next.getTime() - service.clock.nowMs();
        if (waitMs > longestGapMs) return { sent, until: next };
        service.clock.advance(waitMs);
      }
    }
  };
  const handOut = async (phone: DirectPhone) => {
    const claim = await phone.claim(service.runtime);
    assert.ok(claim.kind === 'hand_out');
    return claim.handOut;
  };
  const conversationOf = ({ phoneNumber }: ConnectedNumber, contact: number) =>
    storedConversation(service, phoneNumber, contactAt(contact));
  const unanswered = async (number: ConnectedNumber, contact: number) =>
    (await conversationOf(number, contact))?.unansweredCount;
  /** Runs `work`, which has to wake the held poll of the number. @returns the answer to that poll */
  const wokenBy = async (number: ConnectedNumber, work: () => Promise<unknown>) => {
    const { answer } = await heldPoll(service, number);
    const startedMs = performance.now();
    await work();
    await answer;
    assert.ok(performance.now() - startedMs < pacedCheckMaxMs / 2, 'not by the check of every 10 s');
    return answer;
  };
  const timesOf = async ({ phoneNumber }: ConnectedNumber) =>
    (await handOutsOf(service, phoneNumber)).map(({ handedOutAt }) => handedOutAt.getTime());

  it('a number leaves a random gap of 2 to 5 s between two messages (§8/pacing-gap)', async () => {
    const { number, phone } = await paced.connect();
    await sendMany(number, 30, () => 1);
    assert.equal((await sendUntilHeld(phone)).sent, 30);
    const times = await timesOf(number);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.ok(Math.min(...gaps) >= 2_000, String(gaps));
    // 5 s is the longest gap; the claim and the report may take 0.5 s more.
    assert.ok(Math.max(...gaps) < 5_500, String(gaps));
    assert.ok(Math.max(...gaps) - Math.min(...gaps) > 1_000, String(gaps));
  });

  it('the gap begins at the hand-out, or at the report if it comes later, and all processes compute the same random gap (§8/pacing-gap)', async () => {
    const { number, phone } = await paced.connect({ gap_min_seconds: 100, gap_max_seconds: 200 });
    await sendMany(number, 2, () => 1);
    const first = await handOut(phone);
    service.clock.advance(60_000);
    await phone.report(service.runtime, first);
    const reportedAtMs = service.clock.nowMs();
    const next = await phone.claim(service.runtime);
    assert.ok(next?.kind === 'paced' && next.isWholeNumber && next.until);
    const gapMs = next.until.getTime() - reportedAtMs;
    assert.ok(gapMs > 99_000 && gapMs <= 200_000, String(gapMs));
    const other = await phone.claim({ ...service.runtime });
    assert.deepEqual(other, next);
  });

  it('a number sends at most 100 messages in any hour and 300 in any day, to the second (§8/pacing, §8/pacing-windows, §8/pacing-rows)', async () => {
    const { number, phone } = await paced.connect(noGap);
    await putWaitingMessages(service, { ...phone.session, phoneNumber: number.phoneNumber }, 302);
    const hours: number[] = [];
    for (let hour = 0; hour < 3; hour += 1) {
      const { sent, until } = await sendUntilHeld(phone);
      hours.push(sent);
      assert.ok(until);
      service.clock.advance(until.getTime() - service.clock.nowMs() - 1_000);
      assert.equal((await sendUntilHeld(phone, 0)).sent, 0, 'not a second before');
      service.clock.advance(1_000);
    }
    const times = await timesOf(number);
    assert.deepEqual(hours, [100, 100, 100]);
    assert.ok(times.every((time, index) => (times[index + 100] ?? Infinity) - time >= hourMs));
    assert.ok(service.clock.nowMs() - (times[0] ?? 0) >= 24 * hourMs, 'the third wait was for the day');
    assert.equal((await sendUntilHeld(phone)).sent, 2);
  });

  it('strict pacing starts at most 15 conversations an hour, and messages to known contacts go on (§8/pacing-new-contacts, §8/pacing-order)', async () => {
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap });
    await sendMany(number, 17, (index) => index);
    const known = await paced.send(number, 3, 'to a known contact, behind two new ones');
    const { sent, until: openAgainAt } = await sendUntilHeld(phone);
    assert.equal(sent, 16);
    assert.equal(await unanswered(number, 3), 2);
    assert.equal((await team.api.get(`/v1/messages/${known}`)).json.status, 'sent');
    const [first = 0] = await timesOf(number);
    assert.equal(openAgainAt?.getTime(), first + hourMs);
    service.clock.advance(first + hourMs - service.clock.nowMs());
    assert.equal((await sendUntilHeld(phone)).sent > 0, true);
    assert.ok(await conversationOf(number, 15));
  });

  it('strict pacing sends a contact at most 5 messages without a reply, and a reply wakes the held poll (§8/pacing-unanswered)', async () => {
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap });
    await sendMany(number, 6, () => 1);
    const { sent, until: end } = await sendUntilHeld(phone);
    assert.deepEqual([sent, end], [5, null]);
    const other = await paced.send(number, 2);
    assert.equal(await phone.send(service.runtime), other, 'the next contact is not held back');
    const answer = await wokenBy(number, () =>
      number.wire.call('inbound', { from: contactAt(1), text: 'Hi' }),
    );
    assert.equal(answer.to, contactAt(1));
  });

  it('a poll that waits for one contact’s reply is woken by a message to another contact, before its next check', async () => {
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap, unanswered_per_contact: 1 });
    await sendMany(number, 2, () => 1);
    assert.equal((await sendUntilHeld(phone)).sent, 1);
    assert.equal((await wokenBy(number, () => paced.send(number, 2))).to, contactAt(2));
  });

  it('a released hand-out and an answered message do not count for pacing (§8/pacing-rows)', async () => {
    const { number, phone } = await paced.connect({ messages_per_hour: 1 });
    await paced.send(number, 1);
    const first = await handOut(phone);
    assert.deepEqual(await conversationOf(number, 1), {
      openedBy: 'team',
      unansweredCount: 1,
      lastInboundAt: null,
    });
    await phone.release(service.runtime, first);
    assert.equal(await conversationOf(number, 1), undefined);
    await number.wire.call('inbound', { from: contactAt(1), text: 'Hello' });
    assert.equal((await conversationOf(number, 1))?.openedBy, 'contact');
    assert.equal((await sendUntilHeld(phone)).sent, 1, 'at once: no gap, no hour');
    assert.equal(await unanswered(number, 1), 1);
    await number.wire.call('inbound', { from: contactAt(1), text: 'Hello again' });
    assert.equal(await unanswered(number, 1), 0);
    await paced.send(number, 1);
    assert.equal((await sendUntilHeld(phone)).sent, 0, 'one an hour');
  });

  it('the hand-outs before a released one still count for pacing (§8/pacing-rows)', async () => {
    const { number, phone } = await paced.connect({ ...noGap, messages_per_hour: 2 });
    await sendMany(number, 3, () => 1);
    assert.equal(typeof (await phone.send(service.runtime)), 'string');
    await phone.release(service.runtime, await handOut(phone));
    assert.equal((await sendUntilHeld(phone)).sent, 1, 'two an hour');
  });

  it('the end of the gap wakes the held poll, also on another process, and a new message does not wake it earlier', async (t) => {
    const { number, phone } = await paced.connect({ gap_min_seconds: 8, gap_max_seconds: 8 });
    await sendMany(number, 2, () => 1);
    assert.equal(typeof (await phone.send(service.runtime)), 'string');
    const other = await service.startAnother();
    t.after(() => other.close());
    const wire = new DeviceWire(other.baseUrl, number.wire.token);
    wire.session = number.wire.session;
    const { answer } = await heldPoll(service, number, wire);
    let answered = false;
    answer.then(() => {
      answered = true;
    });
    service.clock.advance(7_000);
    await paced.send(number, 2);
    await fetch(`${other.baseUrl}/healthz`);
    assert.equal(answered, false);
    await until('the gap ends', async () => {
      service.clock.advance(100);
      return answered;
    });
    assert.equal((await answer).to, contactAt(1));
    const [first = 0, second = 0] = await timesOf(number);
    assert.ok(second - first >= 8_000 && second - first < 10_000, String(second - first));
  });

  it('a change of the number’s pacing wakes the number’s held poll', async () => {
    const { number, phone } = await paced.connect({ messages_per_day: 1 });
    await sendMany(number, 2, () => 1);
    assert.equal((await sendUntilHeld(phone)).sent, 1);
    const answer = await wokenBy(number, () => paced.setPacing(number, { mode: 'off' }));
    assert.equal(answer.action, 'send');
  });

  it('a failure report lowers the count of unanswered messages by one, once, unless the contact has replied or the message was sent (§8/pacing-unanswered)', async () => {
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap });
    const failTwice = async (message: Awaited<ReturnType<typeof handOut>>) => {
      for (let reports = 0; reports < 2; reports += 1) await phone.report(service.runtime, message, 'failed');
    };
    const next = async () => {
      await paced.send(number, 1);
      return handOut(phone);
    };
    const endLease = async () => {
      service.clock.advance(hourMs);
      await resolveOverdue(service.runtime);
    };
    await paced.send(number, 1);
    await phone.send(service.runtime);
    await failTwice(await next());
    assert.equal(await unanswered(number, 1), 1);
    const late = await next();
    await endLease();
    assert.equal(await unanswered(number, 1), 2, 'in doubt, so it counts');
    await failTwice(late);
    assert.equal(await unanswered(number, 1), 1);
    const answered = await next();
    service.clock.advance(1_000);
    await number.wire.call('inbound', { from: contactAt(1), text: 'Hi' });
    await endLease();
    const sent = await next();
    await phone.report(service.runtime, sent);
    for (const message of [answered, sent]) await phone.report(service.runtime, message, 'failed');
    assert.equal(await unanswered(number, 1), 1);
  });

  it('the daily limit holds for the whole day, although rows of old hand-outs are deleted (§8/pacing-windows)', async () => {
    const { number, phone } = await paced.connect({ ...noGap, messages_per_day: 1 });
    await sendMany(number, 2, () => 1);
    await phone.send(service.runtime);
    service.clock.advance(23.9 * hourMs);
    await purgeRecentHandOuts(service.runtime);
    await (await heldPoll(service, number)).leaveNoticed();
    const again = await DirectPhone.of(service, number);
    assert.equal((await again.claim(service.runtime)).kind, 'paced');
  });

  it('hand-outs and new conversations that a clock step left more than 10 s in the future do not count (§8/pacing-rows)', async () => {
    const phones = [
      await paced.connect({ ...noGap, messages_per_hour: 1 }),
      await paced.connect({ mode: 'strict', ...noGap, new_contacts_per_hour: 1 }),
    ];
    for (const { number, phone } of phones) {
      await sendMany(number, 2, (index) => index);
      await phone.send(service.runtime);
    }
    service.clock.jump(-6_000);
    for (const { phone } of phones) assert.equal((await phone.claim(service.runtime)).kind, 'paced');
    service.clock.jump(-14_000);
    for (const { phone } of phones) assert.equal(typeof (await phone.send(service.runtime)), 'string');
  });

  it('pacing off hands out messages as fast as the phone takes them (§8/pacing-modes)', async () => {
    const { number, phone } = await paced.connect({ mode: 'off' });
    await sendMany(number, 20, (index) => index);
    for (let sent = 0; sent < 20; sent += 1)
      assert.equal(typeof (await phone.send(service.runtime)), 'string');
  });
});
