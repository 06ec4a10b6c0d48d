import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PacingMode } from '#contract/pacing.ts';
import { pacedCheckMaxMs } from '#server/device-protocol/limits.ts';
import { failExpired } from '#server/messages/sweep-messages.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { findDeviceSession } from '#test/support/devices/stored-device-sessions.ts';
import { handOutsOf } from '#test/support/messages/stored-messages.ts';
import {
  type ConnectedNumber,
  connectNumber,
  DeviceWire,
  type FlatAnswer,
} from '#test/support/phones/test-phone.ts';
import { AlarmClock } from '#test/support/service/alarm-clock.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const sends = 1_000;
const contacts = 140;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const holdMs = 50_000;
/** Time for which the phone stops polling after some answers without a message. */
const longWaitMs = 600_000;

/** A message that the phone sent. */
interface Sent {
  readonly id: string;
  readonly to: string;
  readonly atMs: number;
}

const contactOf = (index: number) => `+1212555${String((index * 37) % contacts).padStart(4, '0')}`;

describe(`${sends} messages through the polls of one phone, two processes and a restart (specification section 8)`, () => {
  let accepted: { readonly id: string; readonly to: string }[] = [];
  const { service, team } = givenTeam({
    ROLES: 'api',
    PACING: 'gentle',
    DEVICE_HOLD_SECONDS: String(holdMs / 1_000),
  });
  /** This clock of both processes stands still until the test moves it. */
  const clock = new AlarmClock();

  const pass = (ms: number) => {
    for (const one of [clock, service.clock]) one.advance(ms);
  };

  /**
   * Runs one phone that polls two processes in turn, and sometimes both at once. Contacts answer every fifth message.
   */
  async function run(number: ConnectedNumber): Promise<{ sent: Sent[]; repliedAtMs: Map<string, number[]> }> {
    const start = () => Promise.all([service.startAnother(clock), service.startAnother(clock)]);
    let processes = await start();
    const seen = new Set<string>();
    const counts = new Map<string, number>();
    const repliedAtMs = new Map<string, number[]>();
    const owed: { readonly to: string; readonly atPoll: number }[] = [];
    let last = 'none';
    let isLongWait = false;
    const poll = async (process: number): Promise<FlatAnswer> => {
      const wire = new DeviceWire(processes[process]?.baseUrl ?? '', number.wire.token);
      wire.session = number.wire.session;
      return wire.poll({ last });
    };
    const polled = async () => (await findDeviceSession(service, number.phoneNumber))?.poll ?? 0;
    for (let polls = 0; seen.size < sends; polls += 1) {
      assert.ok(polls < 20_000, `${seen.size} of ${sends} were handed out`);
      if (polls === 600) {
        await Promise.all(processes.map((process) => process.close()));
        processes = await start();
      }
      // The clock moves too fast for sweeps in the background, so the test runs this one.
      if (polls % 100 === 0) assert.equal(await failExpired(service.runtime), 0);
      for (const { to } of owed.filter(({ atPoll }) => atPoll === polls)) {
        await number.wire.call('inbound', { from: to, text: `answer ${polls}` });
        repliedAtMs.set(to, [...(repliedAtMs.get(to) ?? []), service.clock.nowMs()]);
      }
      const isDouble = polls % 10 === 0;
      const before = isDouble ? await polled() : 0;
      const asked = isDouble ? [poll(0), poll(1)] : [poll(polls % 2)];
      const open = new Set(asked);
      for (const one of asked) {
        const close = () => open.delete(one);
        one.then(close, close);
      }
      // The second poll has to come within 10 s: only then does the server treat it as a repeat of the first.
      if (isDouble) await until('both polls count', async () => (await polled()) >= before + 2);
      while (open.size > 0) {
        // A poll that pacing holds back sets a timer for its next check. Other held polls only set one for the end of
        // their hold.
        const alarm = clock.untilAlarm(open.size < asked.length ? holdMs : pacedCheckMaxMs);
        const inMs = await Promise.race([alarm, ...[...open].map((one) => one.then(() => 0))]);
        if (inMs > 0) pass(isLongWait ? longWaitMs : inMs);
      }
      const answers = await Promise.all(asked);
      const handedOut = answers.filter(({ action }) => action === 'send');
      assert.ok(
        answers.every(({ action }) => action === 'send' || action === 'idle'),
        JSON.stringify(answers),
      );
      assert.ok(handedOut.length <= 1, 'both processes handed out');
      const [message] = handedOut;
      isLongWait = message === undefined;
      last = message?.id ?? 'none';
      if (!message?.id || !message.to) continue;
      assert.ok(!seen.has(message.id), 'handed out twice');
      seen.add(message.id);
      counts.set(message.to, (counts.get(message.to) ?? 0) + 1);
      if ((counts.get(message.to) ?? 0) % 5 === 0) owed.push({ to: message.to, atPoll: polls + 40 });
    }
    await Promise.all(processes.map((process) => process.close()));
    const to = new Map(accepted.map((message) => [message.id, message.to]));
    const sent = (await handOutsOf(service, number.phoneNumber)).map(({ messageId, handedOutAt }) => {
      const id = publicId('msg', messageId);
      return { id, to: to.get(id) ?? '', atMs: handedOutAt.getTime() };
    });
    return { sent, repliedAtMs };
  }

  async function simulate(mode: PacingMode) {
    const number = await connectNumber(service, team);
    assert.equal((await team.api.put(`/v1/numbers/${number.numberId}`, { pacing: { mode } })).status, 200);
    accepted = [];
    for (let index = 0; index < sends; index += 1) {
      const to = contactOf(index);
      accepted.push({ to, id: await team.api.send({ from: number.phoneNumber, to, content: `${index}` }) });
    }
    const result = await run(number);
    assertPaced(result.sent);
    return result;
  }

  /** Asserts that every window of this length holds at most `most` timestamps. */
  function assertWindow(times: readonly number[], most: number, lengthMs: number, what: string): void {
    for (const [index, time] of times.entries()) {
      const next = times[index + most];
      assert.ok(
        next === undefined || next - time >= lengthMs,
        `${what}: ${most + 1} from ${new Date(time).toISOString()}`,
      );
    }
  }

  function assertPaced(sent: readonly Sent[]): void {
    const times = sent.map(({ atMs }) => atMs);
    assert.equal(sent.length, sends, 'none is left behind');
    assertWindow(times, 1, 2_000, 'the gap');
    assertWindow(times, 100, hourMs, 'the hour');
    assertWindow(times, 300, dayMs, 'the day');
    for (const [to, ofContact] of Map.groupBy(sent, (message) => message.to)) {
      const inOrder = accepted.filter((message) => message.to === to).map(({ id }) => id);
      assert.deepEqual(
        ofContact.map(({ id }) => id),
        inOrder,
        to,
      );
    }
  }

  it('gentle pacing keeps the gap, the hourly and the daily limit and each contact’s order, and sends every message (§8/pacing-gap, §8/pacing-windows, §8/pacing-rows, §4.3/order)', async () => {
    const { sent } = await simulate('gentle');
    const lastsMs = (sent.at(-1)?.atMs ?? 0) - (sent[0]?.atMs ?? 0);
    assert.ok(lastsMs < 3.5 * dayMs, `${lastsMs / dayMs} days for what takes three and a few hours`);
  });

  it('strict pacing also keeps the limits of new contacts and of unanswered messages (§8/pacing-new-contacts, §8/pacing-unanswered, §8/pacing-order)', async () => {
    const { sent, repliedAtMs } = await simulate('strict');
    const byContact = Map.groupBy(sent, ({ to }) => to);
    const openings = [...byContact.values()].map(([first]) => first?.atMs ?? 0).sort((a, b) => a - b);
    assert.equal(openings.length, contacts);
    assertWindow(openings, 15, hourMs, 'new contacts in an hour');
    assertWindow(openings, 50, dayMs, 'new contacts in a day');
    for (const [to, ofContact] of byContact) {
      const replies = repliedAtMs.get(to) ?? [];
      for (const [index, { atMs }] of ofContact.entries()) {
        const before = ofContact[index - 5];
        const isAnswered = !before || replies.some((at) => at >= before.atMs && at <= atMs);
        assert.ok(isAnswered, `${to} got a sixth message without a reply`);
      }
    }
  });
});
