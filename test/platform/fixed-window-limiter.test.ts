import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FixedWindowLimiter, keysMax } from '#server/platform/network/fixed-window-limiter.ts';
import { Clock } from '#server/platform/time/clock.ts';

describe('the fixed-window limiter per key and minute (specification sections 7.2 and 11.7)', () => {
  const clock = new Clock();
  const services = { clock, config: { rateLimits: true } };
  clock.advance(60_000 - (clock.nowMs() % 60_000));

  it('a flood of keys takes bounded memory, and does not evict the count of a key in constant use', () => {
    const limit = new FixedWindowLimiter(services, 2);
    const asked = () => limit.allows('busy');
    assert.deepEqual([asked(), asked(), asked()], [true, true, false]);
    for (let n = 0; n < 3 * keysMax; n += 1) {
      assert.ok(limit.allows(`key ${n}`), 'one is not held back for what others do');
      if (n % (keysMax / 2) === 0) assert.equal(asked(), false);
    }
    assert.equal(limit.size, keysMax);
  });

  it('a clock step ahead or back limits no key for longer (specification section 10.7)', () => {
    for (const byMs of [86_400_000, -86_400_000, -30_000, 600_000]) {
      const limit = new FixedWindowLimiter(services, 1);
      assert.ok(limit.allows('key') && !limit.allows('key'));
      clock.jump(byMs);
      clock.advance(60_000);
      assert.ok(limit.allows('key'), `${byMs} ms`);
      clock.advance(60_000 - (clock.nowMs() % 60_000));
    }
  });

  it('asking whether a limit is used up does not count as a request', () => {
    const limit = new FixedWindowLimiter(services, 2);
    assert.equal(limit.isExhausted('key'), false);
    assert.ok(limit.allows('key') && !limit.isExhausted('key') && limit.allows('key'));
    assert.equal(limit.isExhausted('key'), true);
    clock.advance(60_000);
    assert.ok(!limit.isExhausted('key') && limit.allows('key'));
  });
});
