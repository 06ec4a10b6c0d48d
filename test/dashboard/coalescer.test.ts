import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { Coalescer } from '../../web/live/coalescer.ts';

it('the interval of a coalescer doubles under continuous requests, and is short again after a pause', (test) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  test.after(() => mock.timers.reset());
  let nowMs = 0;
  const ranAtMs: number[] = [];
  const coalescer = new Coalescer([3_000, 15_000], () => ranAtMs.push(nowMs));
  const pass = (ms: number, isBusy: boolean) => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 1_000, mock.timers.tick(1_000))
      if (isBusy) coalescer.run();
  };
  pass(60_000, true);
  assert.deepEqual(ranAtMs, [0, 3_000, 9_000, 21_000, 36_000, 51_000]);
  pass(40_000, false);
  ranAtMs.length = 0;
  pass(7_000, true);
  assert.deepEqual(ranAtMs, [100_000, 103_000]);
  coalescer.stop();
});
