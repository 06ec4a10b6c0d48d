import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LatestLink, type NumberFacts, numberState } from '#server/dashboard/home/number-state.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const link = (...marks: readonly (keyof LatestLink)[]): LatestLink => ({
  isOpen: marks.includes('isOpen'),
  hasDevice: marks.includes('hasDevice'),
  hasPolled: marks.includes('hasPolled'),
});
const verified = { isVerified: true, status: 'active' } as const;
const pending = { isVerified: false, status: 'active', lastSeenAt: null } as const;

const cases: readonly (readonly [string, NumberFacts, string, string | null])[] = [
  ['its link was not opened', { ...pending, latestLink: link('isOpen') }, 'pending', 'setup_link_unopened'],
  ['its link ended', { ...pending, latestLink: link() }, 'pending', 'setup_link_ended'],
  ['its link was purged', { ...pending, latestLink: null }, 'pending', 'setup_link_ended'],
  [
    'a phone took the token and never polled',
    { ...pending, latestLink: link('isOpen', 'hasDevice') },
    'pending',
    'shortcuts_not_run',
  ],
  [
    'it is paused and was never verified',
    { ...pending, status: 'paused', latestLink: link() },
    'pending',
    'setup_link_ended',
  ],
  [
    'it is paused and silent',
    { ...verified, status: 'paused', lastSeenAt: minutesAgo(90), latestLink: null },
    'paused',
    null,
  ],
  ['it polls', { ...verified, lastSeenAt: minutesAgo(5), latestLink: null }, 'online', null],
  [
    'it polls while a new link is open',
    { ...verified, lastSeenAt: minutesAgo(0), latestLink: link('isOpen') },
    'online',
    null,
  ],
  [
    'it is silent for some minutes',
    { ...verified, lastSeenAt: minutesAgo(6), latestLink: link('hasDevice', 'hasPolled') },
    'offline',
    'no_power_or_network',
  ],
  [
    'it is silent for an hour',
    { ...verified, lastSeenAt: minutesAgo(60), latestLink: null },
    'offline',
    'no_power_or_network',
  ],
  [
    'it is silent for longer',
    { ...verified, lastSeenAt: minutesAgo(61), latestLink: link('hasDevice', 'hasPolled') },
    'offline',
    'automation_stopped',
  ],
  [
    'a new phone has not polled',
    { ...verified, lastSeenAt: minutesAgo(61), latestLink: link('hasDevice') },
    'offline',
    'reconnect_unfinished',
  ],
  [
    'a new link is open',
    { ...verified, lastSeenAt: minutesAgo(61), latestLink: link('isOpen') },
    'offline',
    'reconnect_unfinished',
  ],
  [
    'a new link ended without a phone',
    { ...verified, lastSeenAt: minutesAgo(61), latestLink: link() },
    'offline',
    'automation_stopped',
  ],
  [
    'it has no session any more',
    { ...verified, lastSeenAt: null, latestLink: null },
    'offline',
    'automation_stopped',
  ],
];

describe('the state of a number on Home (specification section 12.10)', () => {
  for (const [what, facts, state, cause] of cases) {
    it(`${what}: ${state}, ${cause ?? 'without a cause'} (§12.10/number-state)`, () => {
      assert.deepEqual(numberState(facts, now), { state, cause });
    });
  }
});
