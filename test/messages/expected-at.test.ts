import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectedAt, type PacedQueue } from '#server/messages/waiting-reason.ts';
import { defaultPacing } from '#server/numbers/pacing.ts';

const nowMs = Date.parse('2026-11-22T09:00:00Z');
const hourMs = 3_600_000;
const minutesAgo = (minutes: number) => nowMs - 60_000 * minutes;

describe('the expected time of a hand-out under pacing', () => {
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
    ['a message with nothing ahead of it goes now', {}, 0],
    ['a running gap delays a message to the end of the gap', { gapUntilMs: nowMs + 4_000 }, 4_000],
    ['a gap that is over delays nothing', { gapUntilMs: nowMs - 4_000 }, 0],
    ['two messages ahead delay a message by two mean gaps of 3.5 s', { ahead: 2 }, 7_000],
    ['two messages ahead and a running gap add up', { ahead: 2, gapUntilMs: nowMs + 1_000 }, 8_000],
    [
      'a full hour delays a message until the oldest hand-out is an hour old',
      { handedOutAtMs: full },
      10 * 60_000,
    ],
    ['an hour with one hand-out less than its limit delays nothing', { handedOutAtMs: full.slice(1) }, 0],
    [
      'a message ahead takes the first free slot of the hour',
      { handedOutAtMs: full, ahead: 1 },
      Math.max(20 * 60_000, 10 * 60_000 + 3_500),
    ],
    ['three messages ahead fill the hour', { ahead: 3 }, hourMs],
    [
      'a full day delays a message until the oldest hand-out is a day old',
      { handedOutAtMs: [1_200, 1_100, 1_000, 900, 800].map(minutesAgo) },
      24 * hourMs - 1_200 * 60_000,
    ],
    ['five messages ahead fill the day', { ahead: 5 }, 24 * hourMs],
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
    ['a new contact goes now where hour and day have room', opensAfter(0), 0],
    [
      'a full hour of new contacts delays a new contact',
      { ...opensAfter(0), openedAtMs: hourFull },
      10 * 60_000,
    ],
    ['two new contacts ahead fill the hour', opensAfter(2), hourMs],
    ['the third of three new contacts ahead waits for the second hour', opensAfter(3), hourMs],
    ['four new contacts ahead fill the day', opensAfter(4), 24 * hourMs],
    ['ten new contacts ahead take two days and an hour', opensAfter(10), 49 * hourMs],
    ['a new contact ahead takes the next free slot', { ...opensAfter(1), openedAtMs: hourFull }, 20 * 60_000],
    [
      'a known contact does not wait for new contacts that are held',
      { openingsAhead: [0, 0], openedAtMs: hourFull },
      0,
    ],
    [
      'a known contact waits for known contacts, and for new contacts that may go, by the hourly limit of messages',
      { ahead: 1, openingsAhead: [0, 0, 0], policy: { ...strict.policy, messages_per_hour: 3 } },
      hourMs,
    ],
    [
      'messages to a new contact go after the first one, and count in the hour',
      { openingsAhead: [2], policy: { ...strict.policy, messages_per_hour: 3 } },
      hourMs,
    ],
    [
      'messages behind a new contact that waits delay no other contact',
      { openingsAhead: [2], openedAtMs: hourFull, policy: { ...strict.policy, messages_per_hour: 3 } },
      0,
    ],
    [
      'a message waits for the first message to its own new contact, not for later new contacts',
      { openingsAhead: [0, 0, 0], openingsNeeded: 1, openedAtMs: hourFull },
      10 * 60_000,
    ],
    [
      'a new contact waits for the gaps of known contacts ahead',
      {
        ...opensAfter(0),
        ahead: 2,
        policy: { ...strict.policy, gap_min_seconds: 4, gap_max_seconds: 4 },
      },
      8_000,
    ],
  ];
  for (const [title, change, expectedMs] of strictCases) {
    it(`strict pacing: ${title}`, () =>
      assert.equal(expectedAt({ ...strict, ...change }) - nowMs, expectedMs));
  }
});
