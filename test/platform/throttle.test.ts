import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Throttle } from '#server/platform/concurrency/throttle.ts';
import { Clock } from '#server/platform/time/clock.ts';

const [gatherMs, intervalMs] = [600_000, 3_600_000];
const endOfRound = () => new Promise((resolve) => setImmediate(resolve));

describe('the throttle of a repeated run', () => {
  function start(run: () => Promise<void> = async () => {}) {
    const clock = new Clock();
    let runs = 0;
    const throttle = new Throttle({
      clock,
      gatherMs,
      intervalMs,
      run: async () => {
        runs += 1;
        await run();
      },
    });
    const advance = async (ms: number) => {
      clock.advance(ms);
      await endOfRound();
      return runs;
    };
    return { throttle, advance };
  }

  it('a throttle gathers requests for a moment and then runs once for all', async () => {
    const { throttle, advance } = start();
    throttle.request();
    throttle.request();
    assert.equal(await advance(gatherMs - 1_000), 0);
    throttle.request();
    assert.equal(await advance(1_000), 1);
    assert.equal(await advance(2 * intervalMs), 1, 'and not without a request');
  });

  it('a throttle runs again an interval after its last start, or at once if that has passed', async () => {
    const { throttle, advance } = start();
    throttle.request();
    await advance(gatherMs);
    throttle.request();
    assert.equal(await advance(intervalMs - 1_000), 1);
    assert.equal(await advance(1_000), 2);
    await advance(intervalMs);
    throttle.request();
    assert.equal(await advance(gatherMs), 3);
  });

  it('runs never overlap: requests during a run make one more run', async () => {
    const held = Promise.withResolvers<void>();
    const { throttle, advance } = start(() => held.promise);
    throttle.request();
    await advance(gatherMs);
    throttle.request();
    throttle.request();
    assert.equal(await advance(2 * intervalMs), 1);
    held.resolve();
    await endOfRound();
    assert.equal(await advance(gatherMs), 2);
    assert.equal(await advance(2 * intervalMs), 2);
  });

  it('a stopped throttle does not run again, even if it was stopped during a run', async () => {
    const idle = start();
    idle.throttle.request();
    idle.throttle.stop();
    assert.equal(await idle.advance(2 * intervalMs), 0);
    const held = Promise.withResolvers<void>();
    const { throttle, advance } = start(() => held.promise);
    throttle.request();
    await advance(gatherMs);
    throttle.request();
    throttle.stop();
    held.resolve();
    await endOfRound();
    throttle.request();
    assert.equal(await advance(2 * intervalMs), 1);
  });
});
