import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectedAt, type PacedQueue } from '#server/messages/expected-at.ts';
import { defaultPacing } from '#server/numbers/pacing-policy.ts';

const nowMs = Date.parse('2026-11-22T09:00:00Z');
const hourMs = 3_600_000;
const minutesAgo = (minutes: number) => nowMs - 60_000 * minutes;

describe('the estimate of a hand-out under pacing (§4.3/expected-at)', () => {
  const idle: PacedQueue = {
    nowMs,
    policy: { ...defaultPacing('gentle'), messages_per_hour: 3, messages_per_day: 5 },
    ahead: 0,
    handedOutAtMs: [],
    gapUntilMs: 0,
    newContactsUntilMs: 0,
  };
  const full = [50, 40, 30].map(minutesAgo);
  const cases: [string, Partial<PacedQueue>, number][] = [
    ['nothing ahead and nothing sent: now', {}, 0],
    ['the gap runs', { gapUntilMs: nowMs + 4_000 }, 4_000],
    ['the gap is over', { gapUntilMs: nowMs - 4_000 }, 0],
    ['two ahead: two mean gaps of 3.5 s', { ahead: 2 }, 7_000],
    ['two ahead of it behind a running gap', { ahead: 2, gapUntilMs: nowMs + 1_000 }, 8_000],
    ['the hour is full: its oldest leaves it in 10 minutes', { handedOutAtMs: full }, 10 * 60_000],
    ['one short of a full hour', { handedOutAtMs: full.slice(1) }, 0],
    [
      'one ahead takes the first free slot of the hour',
      { handedOutAtMs: full, ahead: 1 },
      Math.max(20 * 60_000, 10 * 60_000 + 3_500),
    ],
    ['three ahead fill the hour themselves', { ahead: 3 }, hourMs],
    [
      'the day is full',
      { handedOutAtMs: [1_200, 1_100, 1_000, 900, 800].map(minutesAgo) },
      24 * hourMs - 1_200 * 60_000,
    ],
    ['five ahead fill the day', { ahead: 5 }, 24 * hourMs],
    ['a new contact waits for its window', { newContactsUntilMs: nowMs + 99_000, ahead: 1 }, 99_000],
    ['a new contact waits for the queue', { newContactsUntilMs: nowMs + 1_000, ahead: 1 }, 3_500],
  ];
  for (const [what, change, expectedMs] of cases) {
    it(what, () => assert.equal(expectedAt({ ...idle, ...change }) - nowMs, expectedMs));
  }
});
