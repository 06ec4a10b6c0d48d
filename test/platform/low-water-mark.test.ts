import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LowWaterMark } from '#server/platform/concurrency/low-water-mark.ts';

/**
 * Changes of a mark, and its position after them: `100@2000` sees the position 100 at 2,000 ms, and `<40` lowers the
 * mark to 40.
 */
const cases: readonly (readonly [title: string, steps: string, position: number])[] = [
  ['it begins below every position', '', 0],
  ['it does not rise to a position that was seen less than 2 s ago', '100@0 200@1999', 0],
  ['it rises to the position that was seen 2 s ago, not to the last one', '100@0 200@2000', 100],
  ['it rises from then on every 2 s', '100@0 200@2000 300@3000 400@4000', 200],
  ['a row that was committed in the meantime keeps the mark below it', '100@0 90@500 200@2000', 90],
  ['a row that waits keeps the mark at it', '100@0 100@2000 100@60000', 100],
  ['a row below the mark lowers it at once', '100@0 200@2000 <40', 40],
  ['a row below the mark keeps it there until it is gone for 2 s', '100@0 200@2000 <40 40@2500 300@4000', 40],
  ['it rises again once that row is gone', '100@0 200@2000 <40 300@4000 400@6000', 300],
  ['a row above the mark does not raise it', '<40', 0],
  ['it falls behind a clock that stepped back', '100@0 200@2000 50@3000 51@4000', 50],
];

describe('the low-water mark of a queue (decision 0017)', () => {
  for (const [title, steps, position] of cases) {
    it(title, () => {
      const mark = new LowWaterMark();
      for (const step of steps.split(' ').filter(Boolean)) {
        const [at, ms] = step.replace('<', '').split('@').map(Number);
        if (step.startsWith('<')) mark.lower(Number(at));
        else mark.see(Number(at), Number(ms));
      }
      assert.equal(mark.position, position);
    });
  }
});
