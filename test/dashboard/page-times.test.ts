import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dueTime, pastTime } from '../../web/kit/relative-time.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** [milliseconds from now, the text of something that has happened, the text of something to come] */
const cases: readonly (readonly [number, string, string])[] = [
  [-300 * dayMs, 'Jan 27', 'now'],
  [-400 * dayMs, 'Oct 19, 2025', 'now'],
  [-3 * dayMs, '3 days ago', 'now'],
  [-90 * minuteMs, '2 h ago', 'now'],
  [-5 * minuteMs, '5 min ago', 'now'],
  [-1_000, 'just now', 'now'],
  // The page's clock is behind by one interval, or by more.
  [14_000, 'just now', 'in a moment'],
  [5 * minuteMs, 'just now', 'in 5 min'],
  [dayMs, 'just now', 'in 1 day'],
  [30 * dayMs, 'just now', 'Dec 23'],
];

describe('times relative to now: one that has passed is never shown as one to come, and a due one never as over', () => {
  for (const [fromNowMs, past, due] of cases) {
    it(`${fromNowMs} ms from now: it happened ${past}, or is due ${due}`, () => {
      const at = new Date(now + fromNowMs).toISOString();
      assert.deepEqual([pastTime(at, now), dueTime(at, now)], [past, due]);
    });
  }
});
