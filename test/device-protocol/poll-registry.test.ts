import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PollRegistry, sessionPayload } from '#server/device-protocol/poll-registry.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';

const one = '01990000-0000-7000-8000-000000000001' as NumberId;
const other = '01990000-0000-7000-8000-000000000002' as NumberId;

/** Number of the latest poll. */
let polls = 0;
const nextPoll = (numberId: NumberId) => {
  polls += 1;
  return { numberId, sessionId: '01990000-0000-7000-8000-00000000000a' as DeviceSessionId, poll: polls };
};

describe('held polls (specification section 11.4)', () => {
  it('a wake between a poll’s look-up and its registration is not lost', async () => {
    const waiting = new PollRegistry();
    const serial = waiting.serial;
    waiting.wake([one]);
    await waiting.register(nextPoll(one), serial, false).untilWoken();
    const later = waiting.register(nextPoll(other), serial, false);
    let woken = false;
    const wait = later.untilWoken().then(() => {
      woken = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(woken, false, 'another number was not woken');
    later.end('held');
    await wait;
    assert.equal(later.ended, 'held');
  });

  it('a wake of all polls reaches held polls and those that register later', () => {
    const waiting = new PollRegistry();
    const held = waiting.register(nextPoll(other), waiting.serial, false);
    const serial = waiting.serial;
    waiting.wakeAll();
    assert.equal(held.awake, true);
    assert.equal(waiting.register(nextPoll(one), serial, false).awake, true);
    assert.equal(
      waiting.register(nextPoll(one), waiting.serial, false).awake,
      false,
      'a later look-up has seen it',
    );
  });

  it('a wake is remembered through one sweep, and deleted by the next', () => {
    const waiting = new PollRegistry();
    const serial = waiting.serial;
    waiting.wake([one]);
    waiting.purgeOldWakes();
    assert.equal(isAwake(waiting, serial), true);
    waiting.purgeOldWakes();
    assert.equal(isAwake(waiting, serial), false);
  });

  it('a newer poll of a number replaces the older one, and stopping the registry ends all polls, later ones too', () => {
    const waiting = new PollRegistry();
    const older = waiting.register(nextPoll(one), 0, false);
    const newer = waiting.register(nextPoll(one), 0, false);
    assert.deepEqual([older.ended, newer.ended], ['replaced', undefined]);
    waiting.remove(older);
    assert.deepEqual(waiting.numbers, [one], 'the older one does not take the newer one with it');
    waiting.stop();
    assert.equal(newer.ended, 'stopping');
    assert.equal(waiting.register(nextPoll(other), 0, false).ended, 'stopping');
  });

  it('a poll that pacing holds for some contacts wakes on a new message after its pause, and on a reply at once (§8/pacing-held)', () => {
    const waiting = new PollRegistry();
    const held = waiting.register(nextPoll(one), waiting.serial, false);
    held.pace(false);
    waiting.wake([one]);
    assert.equal(held.awake, false);
    held.endLook();
    assert.equal(held.awake, true, 'for the message that arrived meanwhile');
    const later = waiting.register(nextPoll(one), waiting.serial, false);
    later.pace(false);
    later.endLook();
    assert.equal(later.awake, false, 'without a message');
    waiting.wake([one]);
    assert.equal(later.awake, true);
    const answered = waiting.register(nextPoll(one), waiting.serial, false);
    answered.pace(false);
    waiting.wakePaced([one]);
    assert.equal(answered.awake, true);
    const whole = waiting.register(nextPoll(one), waiting.serial, false);
    whole.pace(true);
    waiting.wake([one]);
    whole.endLook();
    assert.equal(whole.awake, false, 'the whole number waits for its alarm');
  });

  /** True if a poll that registers now is woken at once. */
  function isAwake(waiting: PollRegistry, serial: number): boolean {
    return waiting.register(nextPoll(one), serial, false).awake;
  }

  it('only the newest poll of a session waits, even if an older one arrives later', () => {
    const waiting = new PollRegistry();
    const [older, newer] = [nextPoll(one), nextPoll(one)];
    const held = waiting.register(newer, waiting.serial, false);
    assert.equal(waiting.register(older, waiting.serial, false).ended, 'replaced');
    assert.equal(held.ended, undefined);
    const nextSession = {
      ...older,
      sessionId: '01990000-0000-7000-8000-00000000000b' as DeviceSessionId,
      poll: 1,
    };
    assert.equal(waiting.register(nextSession, waiting.serial, false).ended, undefined);
    assert.equal(held.ended, 'superseded');
    assert.equal(waiting.register(newer, waiting.serial, false).ended, 'superseded');
  });

  it('a session that began on another process ends held polls of older sessions of its number only', () => {
    const waiting = new PollRegistry();
    const older = waiting.register(nextPoll(one), waiting.serial, false);
    const neighbour = waiting.register(nextPoll(other), waiting.serial, false);
    const newer = '01990000-0000-7000-8000-00000000000b' as DeviceSessionId;
    waiting.onSessionsStarted([sessionPayload(one, older.identity.sessionId)]);
    assert.equal(older.ended, undefined, 'its own session');
    waiting.onSessionsStarted([sessionPayload(one, newer)]);
    assert.deepEqual([older.ended, neighbour.ended], ['superseded', undefined]);
  });
});
