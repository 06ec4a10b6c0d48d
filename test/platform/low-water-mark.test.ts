import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LowWaterMark } from '#server/platform/concurrency/low-water-mark.ts';

type Step = readonly [what: 'see' | 'lower', position: number, atMs?: number];

/** Changes of a mark, and its position after them. */
const cases: Readonly<Record<string, readonly [steps: readonly Step[], position: number]>> = {
  'it begins below every position': [[], 0],
  'it does not rise to a position that was seen less than 2 s ago': [
    [
      ['see', 100, 0],
      ['see', 200, 1_999],
    ],
    0,
  ],
  'it rises to the position that was seen 2 s ago, not to the last one': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
    ],
    100,
  ],
  'it rises from then on every 2 s': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
      ['see', 300, 3_000],
      ['see', 400, 4_000],
    ],
    200,
  ],
  'a row that was committed in the meantime keeps the mark below it': [
    [
      ['see', 100, 0],
      ['see', 90, 500],
      ['see', 200, 2_000],
    ],
    90,
  ],
  'a row that waits keeps the mark at it': [
    [
      ['see', 100, 0],
      ['see', 100, 2_000],
      ['see', 100, 60_000],
    ],
    100,
  ],
  'a row below the mark lowers it at once': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
      ['lower', 40],
    ],
    40,
  ],
  'a row below the mark keeps it there until it is gone for 2 s': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
      ['lower', 40],
      ['see', 40, 2_500],
      ['see', 300, 4_000],
    ],
    40,
  ],
  'it rises again once that row is gone': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
      ['lower', 40],
      ['see', 300, 4_000],
      ['see', 400, 6_000],
    ],
    300,
  ],
  'a row above the mark does not raise it': [[['lower', 40]], 0],
  'it falls behind a clock that stepped back': [
    [
      ['see', 100, 0],
      ['see', 200, 2_000],
      ['see', 50, 3_000],
      ['see', 51, 4_000],
    ],
    50,
  ],
};

describe('the low-water mark of a queue (decision 0017)', () => {
  for (const [name, [steps, position]] of Object.entries(cases)) {
    it(name, () => {
      const mark = new LowWaterMark();
      for (const [what, at, ms = 0] of steps) mark[what](at, ms);
      assert.equal(mark.position, position);
    });
  }
});
