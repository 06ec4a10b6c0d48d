import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Throttle } from '#server/platform/concurrency/throttle.ts';
import { Clock } from '#server/platform/time/clock.ts';

const [gatherMs, intervalMs] = [600_000, 3_600_000];
const endOfRound = () => new Promise((resolve) => setImmediate(resolve));

describe('the throttle of a repeated run', () => {
  function start() {
    const clock = new Clock();
    let runs = 0;
    const throttle = new Throttle({
      clock,
      gatherMs,
      intervalMs,
      run: () => {
        runs += 1;
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

  it('a throttle runs again an interval after its last run, or at once if that has passed', async () => {
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

  it('a stopped throttle does not run again', async () => {
    const { throttle, advance } = start();
    throttle.request();
    throttle.stop();
    assert.equal(await advance(2 * intervalMs), 0);
  });
});
