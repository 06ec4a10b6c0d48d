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
    const registry = new PollRegistry();
    const wakeCount = registry.wakeCount;
    registry.wake([one]);
    await registry.register(nextPoll(one), wakeCount, false).untilWoken();
    const later = registry.register(nextPoll(other), wakeCount, false);
    let woken = false;
    const wait = later.untilWoken().then(() => {
      woken = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(woken, false, 'another number was not woken');
    later.end('timeout');
    await wait;
    assert.equal(later.ended, 'timeout');
  });

  it('a wake of all polls reaches held polls and polls that register later', () => {
    const registry = new PollRegistry();
    const held = registry.register(nextPoll(other), registry.wakeCount, false);
    const wakeCount = registry.wakeCount;
    registry.wakeAll();
    assert.equal(held.awake, true);
    assert.equal(registry.register(nextPoll(one), wakeCount, false).awake, true);
    assert.equal(
      registry.register(nextPoll(one), registry.wakeCount, false).awake,
      false,
      'a later look-up has seen it',
    );
  });

  it('a wake is remembered through one sweep, and deleted by the next', () => {
    const registry = new PollRegistry();
    const wakeCount = registry.wakeCount;
    registry.wake([one]);
    registry.purgeOldWakes();
    assert.equal(isAwake(registry, wakeCount), true);
    registry.purgeOldWakes();
    assert.equal(isAwake(registry, wakeCount), false);
  });

  it('a newer poll of a number replaces the older one, and stopping the registry ends all polls, later ones too', () => {
    const registry = new PollRegistry();
    const older = registry.register(nextPoll(one), 0, false);
    const newer = registry.register(nextPoll(one), 0, false);
    assert.deepEqual([older.ended, newer.ended], ['replaced', undefined]);
    registry.remove(older);
    assert.deepEqual(registry.numbers, [one], 'the older one does not take the newer one with it');
    registry.stop();
    assert.equal(newer.ended, 'stopping');
    assert.equal(registry.register(nextPoll(other), 0, false).ended, 'stopping');
  });

  it('a poll that pacing holds for some contacts wakes on a new message after its pause, and on a reply at once (§8/pacing-held)', () => {
    const registry = new PollRegistry();
    const held = registry.register(nextPoll(one), registry.wakeCount, false);
    held.pace(false);
    registry.wake([one]);
    assert.equal(held.awake, false);
    held.endCheckPause();
    assert.equal(held.awake, true, 'for the message that arrived meanwhile');
    const later = registry.register(nextPoll(one), registry.wakeCount, false);
    later.pace(false);
    later.endCheckPause();
    assert.equal(later.awake, false, 'without a message');
    registry.wake([one]);
    assert.equal(later.awake, true);
    const answered = registry.register(nextPoll(one), registry.wakeCount, false);
    answered.pace(false);
    registry.wakePaced([one]);
    assert.equal(answered.awake, true);
    const whole = registry.register(nextPoll(one), registry.wakeCount, false);
    whole.pace(true);
    registry.wake([one]);
    whole.endCheckPause();
    assert.equal(whole.awake, false, 'the whole number waits for its alarm');
  });

  /** True if a poll that registers now is woken at once. */
  function isAwake(registry: PollRegistry, wakeCount: number): boolean {
    return registry.register(nextPoll(one), wakeCount, false).awake;
  }

  it('only the newest poll of a session waits, even if an older one arrives later', () => {
    const registry = new PollRegistry();
    const [older, newer] = [nextPoll(one), nextPoll(one)];
    const held = registry.register(newer, registry.wakeCount, false);
    assert.equal(registry.register(older, registry.wakeCount, false).ended, 'replaced');
    assert.equal(held.ended, undefined);
    const nextSession = {
      ...older,
      sessionId: '01990000-0000-7000-8000-00000000000b' as DeviceSessionId,
      poll: 1,
    };
    assert.equal(registry.register(nextSession, registry.wakeCount, false).ended, undefined);
    assert.equal(held.ended, 'superseded');
    assert.equal(registry.register(newer, registry.wakeCount, false).ended, 'superseded');
  });

  it('a session that began on another process ends held polls of older sessions of its number only', () => {
    const registry = new PollRegistry();
    const older = registry.register(nextPoll(one), registry.wakeCount, false);
    const neighbour = registry.register(nextPoll(other), registry.wakeCount, false);
    const newer = '01990000-0000-7000-8000-00000000000b' as DeviceSessionId;
    registry.onSessionsStarted([sessionPayload(one, older.identity.sessionId)]);
    assert.equal(older.ended, undefined, 'its own session');
    registry.onSessionsStarted([sessionPayload(one, newer)]);
    assert.deepEqual([older.ended, neighbour.ended], ['superseded', undefined]);
  });
});
