import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DevicePoll, type PollIdentity, PollRegistry } from '#server/device-protocol/poll-registry.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids.ts';

const one = '01990000-0000-7000-8000-000000000001' as NumberId;
const other = '01990000-0000-7000-8000-000000000002' as NumberId;
const session = '01990000-0000-7000-8000-00000000000a' as DeviceSessionId;
const connected = new AbortController().signal;

/** Number of the latest poll. */
let polls = 0;
const nextPoll = (numberId: NumberId): PollIdentity => {
  polls += 1;
  return { numberId, sessionId: session, poll: polls };
};

describe('held polls (specification section 11.4)', () => {
  /** Holds a poll as during its look-up. `done` resolves once it has ended. */
  function lookUp(registry: PollRegistry, numberId: NumberId) {
    const poll = new DevicePoll();
    return { poll, done: registry.hold(numberId, poll, connected, () => poll.untilEnded()) };
  }

  /** Holds a poll that waits for a message after its look-up. */
  function held(registry: PollRegistry, identity: PollIdentity): DevicePoll {
    const { poll } = lookUp(registry, identity.numberId);
    registry.identify(poll, identity);
    return poll;
  }

  it('a wake-up during a poll’s look-up is not lost, and reaches no poll of another number', async () => {
    const registry = new PollRegistry();
    const [{ poll: woken }, { poll: later, done }] = [lookUp(registry, one), lookUp(registry, other)];
    registry.wakeForMessages([one]);
    assert.deepEqual([woken.awake, later.awake], [true, false]);
    registry.wake();
    assert.equal(later.awake, true, 'a wake of all polls');
    assert.equal(lookUp(registry, one).poll.awake, false, 'a later look-up has seen it');
    later.end('timeout');
    await done;
    assert.equal(later.ended, 'timeout');
  });

  it('a newer poll of a number ends the older one, and a stopped registry ends all polls, later ones too', async () => {
    const registry = new PollRegistry();
    const older = held(registry, nextPoll(one));
    const newer = held(registry, nextPoll(one));
    assert.deepEqual([older.ended, newer.ended], ['replaced', undefined]);
    await older.untilEnded();
    lookUp(registry, other);
    assert.deepEqual(registry.numbers, [one], 'the older one does not take the newer one with it');
    registry.stop();
    assert.equal(newer.ended, 'stopping');
    assert.equal(held(registry, nextPoll(other)).ended, 'stopping');
  });

  it('a poll that pacing delays for some contacts is woken by a new message after a pause, and by a reply at once', () => {
    const registry = new PollRegistry();
    const paced = (isWholeNumber: boolean) => {
      const poll = held(registry, nextPoll(one));
      poll.pace(isWholeNumber);
      return poll;
    };
    const first = paced(false);
    registry.wakeForMessages([one]);
    assert.equal(first.awake, false);
    first.allowNextCheck();
    assert.equal(first.awake, true, 'for the message that arrived meanwhile');
    const later = paced(false);
    later.allowNextCheck();
    assert.equal(later.awake, false, 'without a message');
    registry.wakeForMessages([one]);
    assert.equal(later.awake, true);
    const answered = paced(false);
    registry.wake([one]);
    assert.equal(answered.awake, true);
    const whole = paced(true);
    registry.wakeForMessages([one]);
    whole.allowNextCheck();
    assert.equal(whole.awake, false, 'the whole number waits for its alarm');
    assert.deepEqual(registry.numbersWithoutTimer, []);
  });
});
