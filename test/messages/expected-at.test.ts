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
    openingsAhead: [],
    openingsNeeded: 0,
    isOpening: false,
    handedOutAtMs: [],
    openedAtMs: [],
    gapUntilMs: 0,
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
  ];
  for (const [what, change, expectedMs] of cases) {
    it(what, () => assert.equal(expectedAt({ ...idle, ...change }) - nowMs, expectedMs));
  }

  const strict: PacedQueue = {
    ...idle,
    policy: {
      ...defaultPacing('strict'),
      gap_min_seconds: 0,
      gap_max_seconds: 0,
      new_contacts_per_hour: 2,
      new_contacts_per_day: 4,
    },
  };
  const opensAfter = (openings: number): Partial<PacedQueue> => ({
    openingsAhead: new Array(openings).fill(0),
    openingsNeeded: openings,
    isOpening: true,
  });
  const hourFull = [50, 40].map(minutesAgo);
  const strictCases: [string, Partial<PacedQueue>, number][] = [
    ['a new contact with both windows free: now', opensAfter(0), 0],
    ['the hour of new contacts is full', { ...opensAfter(0), openedAtMs: hourFull }, 10 * 60_000],
    ['two new contacts ahead fill the hour', opensAfter(2), hourMs],
    ['three ahead: the second hour has one left', opensAfter(3), hourMs],
    ['four ahead fill the day', opensAfter(4), 24 * hourMs],
    ['ten ahead take two days and an hour', opensAfter(10), 49 * hourMs],
    ['one ahead takes the slot that becomes free', { ...opensAfter(1), openedAtMs: hourFull }, 20 * 60_000],
    [
      'a known contact does not wait for new ones that are held',
      { openingsAhead: [0, 0], openedAtMs: hourFull },
      0,
    ],
    [
      'a known contact waits for the known ones and for the new ones that may go, by the hour of all messages',
      { ahead: 1, openingsAhead: [0, 0, 0], policy: { ...strict.policy, messages_per_hour: 3 } },
      hourMs,
    ],
    [
      'the messages that follow an opening go after it',
      { openingsAhead: [2], policy: { ...strict.policy, messages_per_hour: 3 } },
      hourMs,
    ],
    [
      'they hold back nothing while it waits',
      { openingsAhead: [2], openedAtMs: hourFull, policy: { ...strict.policy, messages_per_hour: 3 } },
      0,
    ],
    [
      'a message behind the opening of its own contact waits for that one, not for later openings',
      { openingsAhead: [0, 0, 0], openingsNeeded: 1, openedAtMs: hourFull },
      10 * 60_000,
    ],
    [
      'a new contact waits for the known ones ahead: gaps',
      {
        ...opensAfter(0),
        ahead: 2,
        policy: { ...strict.policy, gap_min_seconds: 4, gap_max_seconds: 4 },
      },
      8_000,
    ],
  ];
  for (const [title, change, expectedMs] of strictCases) {
    it(`strict: ${title}`, () => assert.equal(expectedAt({ ...strict, ...change }) - nowMs, expectedMs));
  }
});
