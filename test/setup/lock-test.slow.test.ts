import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeTestRecipients } from '#server/setup/setup-store.ts';
import { allStoredRowTexts } from '#test/support/database/stored-text.ts';
import { newMember } from '#test/support/people/people.ts';
import {
  connectNumber,
  type DeviceWire,
  newPhoneNumber,
  takeMessage,
} from '#test/support/phones/test-phone.ts';
import { assertNone } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { act, readState } from '#test/support/setup/setup-page.ts';

const friend = '+14155559901';

describe('the lock test of the setup page', () => {
  const { service, team } = givenTeam();

  const sendText = (setupUrl: string, to = friend) => act(setupUrl, 'test-text', { to });
  const lock = (setupUrl: string) => act(setupUrl, 'lock-test');
  const lockedOf = async (setupUrl: string) => (await readState(setupUrl)).checks.locked;

  /** Connects a phone and lets it send the test text to `to`. */
  const connectTested = async (to = friend) => {
    const number = await connectNumber(service, team);
    await sendText(number.setupUrl, to);
    await number.wire.poll({ last: (await takeMessage(number.wire)).id ?? '' });
    return number;
  };
  /** Polls for some seconds, as a locked phone does. */
  const pollFor = async (wire: DeviceWire, seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 24) {
      service.clock.advance(24_000);
      await wire.poll();
    }
  };
  const textsOf = async (phoneNumber: string): Promise<string[]> => {
    const { json } = await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}`);
    return (json.messages as { content: string }[]).map(({ content }) => content);
  };

  it('the lock test passes once one session has polled for two minutes and sent a text', async () => {
    const { setupUrl, wire } = await connectTested();
    const beforeMs = service.clock.nowMs();
    assert.equal((await lock(setupUrl)).checks.locked, 'busy');
    const afterMs = service.clock.nowMs();
    service.clock.advance(24_000);
    assert.equal((await wire.poll()).action, 'idle', 'not before the phone is locked');
    service.clock.advance(24_000);
    const text = await takeMessage(wire);
    assert.equal(text.to, friend);
    assert.match(text.text ?? '', /can send texts while it is locked/);
    await wire.poll({ last: text.id ?? '' });
    const locked = await readState(setupUrl);
    assert.equal(locked.checks.locked, 'busy');
    const unlockAt = locked.state.lock.unlock_at ?? '';
    const unlockAtMs = new Date(unlockAt).getTime();
    assert.ok(unlockAtMs >= beforeMs + 180_000 && unlockAtMs <= afterMs + 180_000, unlockAt);
    await pollFor(wire, 72);
    assert.equal(await lockedOf(setupUrl), 'done');
    service.clock.advance(3_600_000);
    await wire.poll({ session: 'new' });
    assert.equal(await lockedOf(setupUrl), 'done');
  });

  it('the lock test does not pass without its text, and shows the status of that text', async () => {
    const { setupUrl, wire } = await connectTested();
    await lock(setupUrl);
    await pollFor(wire, 48);
    const failing = await takeMessage(wire);
    await wire.poll({ last: failing.id ?? '', last_status: 'failed', last_error: 'not while locked' });
    const failed = await readState(setupUrl);
    assert.equal(failed.checks.locked, 'failed text_failed');
    assert.match(failed.state.lock.error ?? '', /not while locked/);

    await lock(setupUrl);
    await pollFor(wire, 48);
    await takeMessage(wire);
    service.clock.advance(60_000);
    assert.equal(await lockedOf(setupUrl), 'failed silent_at_text');
  });

  it('the page shows why a lock-test text was refused, and does not count that text', async () => {
    const { setupUrl, wire, numberId } = await connectTested();
    await lock(setupUrl);
    await team.api.put(`/v1/numbers/${numberId}`, { status: 'paused' });
    await pollFor(wire, 48);
    await until('the text is refused', async () => (await lockedOf(setupUrl)) === 'failed text_refused');
    assert.match((await readState(setupUrl)).state.lock.error ?? '', /paused/);
    await team.api.put(`/v1/numbers/${numberId}`, { status: 'active' });
    const statuses: number[] = [];
    for (let sent = 1; sent <= 5; sent += 1) statuses.push((await sendText(setupUrl)).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 409]);
  });

  it('the text of a lock test counts towards the five test texts, even if the lock test is started again', async () => {
    const { setupUrl } = await connectTested();
    for (let clicks = 0; clicks < 3; clicks += 1) assert.equal((await lock(setupUrl)).status, 200);
    const statuses: number[] = [];
    for (let sent = 2; sent <= 5; sent += 1) statuses.push((await sendText(setupUrl)).status);
    assert.deepEqual(statuses, [200, 200, 200, 409]);
    assert.equal((await lock(setupUrl)).status, 200, 'the text of this test was counted');
  });

  it('the recipients of test texts are deleted once their setup link has ended or expired', async () => {
    const recipients = ['+14155559903', '+14155559904'] as const;
    const numbers = [await connectTested(recipients[0]), await connectTested(recipients[1])] as const;
    for (const { setupUrl } of numbers) await lock(setupUrl);
    const stored = async () => {
      await purgeTestRecipients(service.runtime.database.pool, { now: service.clock.now() });
      const rows = (await allStoredRowTexts(service)).get('public.setup_tests') ?? [];
      return recipients.filter((to) => rows.some((row) => row.includes(to)));
    };
    assert.deepEqual(await stored(), recipients);
    assert.equal((await team.api.post(`/v1/numbers/${numbers[0].numberId}/reconnect`)).status, 200);
    assert.deepEqual(await stored(), [recipients[1]]);
    service.clock.advance(24 * 3_600_000);
    assert.deepEqual(await stored(), []);
  });

  it('a lock test whose recipient is erased fails, and no longer shows the recipient', async () => {
    const admin = await newMember(service, team, 'admin');
    const tests = async () => (await allStoredRowTexts(service)).get('public.setup_tests') ?? [];
    for (const isRefused of [false, true]) {
      const to = '+14155559902';
      const { setupUrl, wire } = await connectTested(to);
      await lock(setupUrl);
      if (isRefused) {
        await team.api.put(`/v1/opt-outs/${encodeURIComponent(to)}`, {});
        await pollFor(wire, 48);
        await until('the text is refused', async () => (await lockedOf(setupUrl)) === 'failed text_refused');
      }
      assert.ok((await tests()).some((row) => row.includes(to)));
      assert.equal((await admin.post(admin.in('/erasures'), { contact: to })).json.status, 'erased');
      assertNone(await tests(), (row) => row.includes(to));
      const { state, checks } = await readState(setupUrl);
      assert.equal(checks.locked, 'failed text_refused');
      assert.match(state.lock.error ?? '', /^Its recipient was erased\. Send a test text/);
      const statuses: number[] = [];
      for (let sent = 2; sent <= 6; sent += 1) statuses.push((await sendText(setupUrl)).status);
      assert.deepEqual(statuses, [200, 200, 200, 200, 409]);
    }
  });

  it('two processes send a single lock-test text, and none after the link was closed', async (t) => {
    const one = await connectTested();
    const closed = await connectTested();
    const other = await service.startAnother();
    t.after(() => other.close());
    await lock(closed.setupUrl);
    await act(closed.setupUrl, 'done');
    await lock(one.setupUrl);
    await pollFor(one.wire, 48);
    const { id = '' } = await takeMessage(one.wire);
    // Every 5 s both processes look for lock tests that have to send their text.
    const begun = Date.now();
    await until('both had another round', () => Date.now() - begun > 6_000);
    assert.equal((await one.wire.poll({ last: id })).action, 'idle');
    assert.equal((await textsOf(one.phoneNumber)).length, 2);
    assert.equal((await textsOf(closed.phoneNumber)).length, 1);
  });

  it('the lock test fails if the phone is silent, polls too rarely, or restarts its shortcut', async () => {
    const { setupUrl, wire } = await connectTested();
    await lock(setupUrl);
    service.clock.advance(40_000);
    assert.equal(await lockedOf(setupUrl), 'failed silent');
    service.clock.advance(300_000);
    await wire.poll();
    assert.equal(await lockedOf(setupUrl), 'failed slow');
    assert.equal((await lock(setupUrl)).checks.locked, 'busy', 'repeated');
    service.clock.advance(40_000);
    wire.session = 'new';
    await wire.poll();
    assert.equal(await lockedOf(setupUrl), 'failed restarted');
  });

  it('the lock test fails if the phone polls but has not sent the text after five minutes', async () => {
    const { setupUrl, wire, numberId, phoneNumber } = await connectTested();
    await lock(setupUrl);
    service.clock.advance(46_000);
    await until('the text is accepted', async () => (await textsOf(phoneNumber)).length === 2);
    await team.api.put(`/v1/numbers/${numberId}`, { status: 'paused' });
    await pollFor(wire, 240);
    assert.equal(await lockedOf(setupUrl), 'busy');
    await pollFor(wire, 48);
    assert.equal(await lockedOf(setupUrl), 'failed text_late');
  });

  it('the lock test can’t start before the first poll and before the first test text was sent', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    const early = await lock(String(verify.json.setup_url));
    assert.deepEqual([early.status, early.error.reason], [409, 'not_polled']);
    const { setupUrl } = await connectNumber(service, team);
    const untested = await lock(setupUrl);
    assert.deepEqual([untested.status, untested.error.reason], [409, 'no_test_text']);
    assert.equal(await lockedOf(setupUrl), 'open');
  });

  it('a reply by the recipient during the lock test passes the check of replies, and the check stays passed', async () => {
    const start = async () => {
      const number = await connectTested();
      await lock(number.setupUrl);
      const reply = (from: string) => number.wire.call('inbound', { from, text: 'Hi' });
      const check = async () => (await readState(number.setupUrl)).checks.locked_reply;
      return { ...number, reply, check };
    };
    const passing = await start();
    await passing.reply(friend);
    assert.equal(await passing.check(), 'busy', 'it came before the text');
    await pollFor(passing.wire, 48);
    await passing.wire.poll({ last: (await takeMessage(passing.wire)).id ?? '' });
    await passing.reply('+14155559902');
    assert.equal(await passing.check(), 'busy', 'it came from another phone');
    await pollFor(passing.wire, 96);
    const { state, checks } = await readState(passing.setupUrl);
    assert.deepEqual([checks.locked, state.lock.unlock_at !== null], ['done', true]);
    await passing.reply(friend);
    service.clock.advance(3_600_000);
    assert.equal(await passing.check(), 'done', 'nobody had looked meanwhile');
    await passing.wire.poll({ session: 'new' });
    await lock(passing.setupUrl);
    assert.equal(await passing.check(), 'done', 'also in a further test');

    const late = await start();
    await pollFor(late.wire, 48);
    await late.wire.poll({ last: (await takeMessage(late.wire)).id ?? '' });
    await pollFor(late.wire, 144);
    await late.reply(friend);
    assert.equal(await late.check(), 'failed', 'it may have been unlocked by then');

    const slow = await start();
    const setStatus = (status: string) => team.api.put(`/v1/numbers/${slow.numberId}`, { status });
    service.clock.advance(46_000);
    await until('the text is accepted', async () => (await textsOf(slow.phoneNumber)).length === 2);
    await setStatus('paused');
    await pollFor(slow.wire, 120);
    await setStatus('active');
    await slow.wire.poll({ last: (await takeMessage(slow.wire)).id ?? '' });
    await pollFor(slow.wire, 72);
    assert.equal(await slow.check(), 'busy');
    await slow.reply(friend);
    assert.equal(await slow.check(), 'done', 'less than 90 s after the text was sent');
  });
});
