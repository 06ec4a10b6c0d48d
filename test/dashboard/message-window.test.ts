import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitDelayMs, rowMessagesMax } from '#server/dashboard/live/limits.ts';
import { MessageWindow } from '#server/dashboard/live/message-window.ts';
import { firstIdAt, type MessageId } from '#server/platform/ids/ids.ts';

const nowMs = Date.parse('2026-11-22T12:00:00.000Z');
const idAt = (ms: number) => firstIdAt(ms).replace(/0000$/, '0001') as MessageId;
/** Makes ids that are a millisecond apart, newest first. */
const idsFrom = (ms: number, count: number) => Array.from({ length: count }, (_, n) => idAt(ms - n));

describe('the window of new messages of a live stream (specification section 12.9)', () => {
  it('each message is returned once, even one with an earlier id that is committed later (§12.9/rows)', () => {
    const window = new MessageWindow(nowMs);
    const [first, late, third] = [idAt(nowMs), idAt(nowMs - commitDelayMs + 1), idAt(nowMs + 10)];
    assert.ok(late >= window.firstId);
    assert.deepEqual(window.take([first], nowMs), [first]);
    assert.deepEqual(window.take([first], nowMs), []);
    assert.deepEqual(window.take([first, late], nowMs), [late]);
    assert.deepEqual(window.take([third, first, late], nowMs), [third]);
  });

  it('the window moves with the time, and never back (§12.9/rows)', () => {
    const window = new MessageWindow(nowMs);
    window.take([idAt(nowMs)], nowMs + 2 * commitDelayMs);
    const { firstId } = window;
    assert.equal(firstId, firstIdAt(nowMs + commitDelayMs));
    assert.equal(window.idsMax, rowMessagesMax + 1, 'it forgets ids before itself');
    window.take([], nowMs);
    assert.equal(window.firstId, firstId);
  });

  it('the window reads one id more than it knows and may return (§12.9/bounds)', () => {
    const window = new MessageWindow(nowMs);
    assert.equal(window.idsMax, rowMessagesMax + 1);
    window.take(idsFrom(nowMs, 7), nowMs);
    assert.equal(window.idsMax, 7 + rowMessagesMax + 1);
  });

  it('the window of new messages skips a burst that is too large for one event of the live stream, and continues after it (§12.9/bounds)', () => {
    const window = new MessageWindow(nowMs);
    const exactly = idsFrom(nowMs, rowMessagesMax);
    assert.equal(window.take(exactly, nowMs)?.length, rowMessagesMax);
    const more = idsFrom(nowMs + 1_000, rowMessagesMax + 1);
    assert.equal(window.take([...more, ...exactly], nowMs), undefined);
    assert.equal(window.firstId, more[0]);
    const next = idAt(nowMs + 2_000);
    assert.deepEqual(window.take([next, more[0] as MessageId], nowMs), [next]);
  });
});
