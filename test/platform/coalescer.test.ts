import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Coalescer } from '#server/platform/concurrency/coalescer.ts';
import { Clock } from '#server/platform/time/clock.ts';

const [gatherMs, intervalMs] = [600_000, 3_600_000];
const endOfRound = () => new Promise((resolve) => setImmediate(resolve));

describe('the coalescer of a repeated run', () => {
  function start() {
    const clock = new Clock();
    let runs = 0;
    const coalescer = new Coalescer({
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
    return { coalescer, advance };
  }

  it('a coalescer collects requests for a short time, and then runs once for all of them', async () => {
    const { coalescer, advance } = start();
    coalescer.request();
    coalescer.request();
    assert.equal(await advance(gatherMs - 1_000), 0);
    coalescer.request();
    assert.equal(await advance(1_000), 1);
    assert.equal(await advance(2 * intervalMs), 1, 'and not without a request');
  });

  it('a coalescer runs again an interval after its last run, or at once if the interval has passed', async () => {
    const { coalescer, advance } = start();
    coalescer.request();
    await advance(gatherMs);
    coalescer.request();
    assert.equal(await advance(intervalMs - 1_000), 1);
    assert.equal(await advance(1_000), 2);
    await advance(intervalMs);
    coalescer.request();
    assert.equal(await advance(gatherMs), 3);
  });

  it('a stopped coalescer does not run again', async () => {
    const { coalescer, advance } = start();
    coalescer.request();
    coalescer.stop();
    assert.equal(await advance(2 * intervalMs), 0);
  });
});
