import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type HealthCause, healthCauseTexts } from '#contract/health-causes.ts';
import { likelyCause } from '#server/numbers/number-health.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const noLink = { link_is_open: null, link_has_device: null, link_has_polled: null };
const link = (...marks: readonly ('isOpen' | 'hasDevice' | 'hasPolled')[]) => ({
  link_is_open: marks.includes('isOpen'),
  link_has_device: marks.includes('hasDevice'),
  link_has_polled: marks.includes('hasPolled'),
});
const pending = {
  state: 'pending',
  last_seen_at: null,
  has_taken_message: false,
  has_left: false,
  is_simulated: false,
  ...noLink,
} as const;
const offline = {
  ...pending,
  state: 'offline',
  last_seen_at: minutesAgo(6),
  ...link('hasDevice', 'hasPolled'),
} as const;

const cases: readonly (readonly [string, Parameters<typeof likelyCause>[0], HealthCause | null])[] = [
  ['pending, its link was not opened', { ...pending, ...link('isOpen') }, 'setup_link_unopened'],
  ['pending, its link ended', { ...pending, ...link() }, 'setup_link_ended'],
  ['pending, its link was purged', pending, 'setup_link_ended'],
  [
    'pending, a phone took the token and never polled',
    { ...pending, ...link('isOpen', 'hasDevice') },
    'shortcuts_not_run',
  ],
  [
    'pending, the server runs its simulated iPhone',
    { ...pending, ...link('isOpen'), is_simulated: true },
    'simulated_not_running',
  ],
  [
    'silent, the server runs its simulated iPhone',
    { ...offline, has_left: true, is_simulated: true },
    'simulated_not_running',
  ],
  ['online, a new link is open', { ...offline, state: 'online', ...link('isOpen') }, null],
  ['late, and the phone disconnected', { ...offline, state: 'late', has_left: true }, null],
  ['silent for some minutes', offline, 'no_power_or_network'],
  ['silent for an hour', { ...offline, last_seen_at: minutesAgo(60) }, 'no_power_or_network'],
  ['silent for over an hour', { ...offline, last_seen_at: minutesAgo(61) }, 'automation_stopped'],
  ['the phone disconnected', { ...offline, has_left: true }, 'stopped_while_waiting'],
  [
    'the phone disconnected over an hour ago',
    { ...offline, has_left: true, last_seen_at: minutesAgo(61) },
    'automation_stopped',
  ],
  [
    'the phone took a message hours ago',
    { ...offline, has_taken_message: true, last_seen_at: minutesAgo(200) },
    'stopped_after_message',
  ],
  [
    'a new phone has not polled',
    { ...offline, has_taken_message: true, ...link('hasDevice') },
    'reconnect_unfinished',
  ],
  ['a new link is open', { ...offline, ...link('isOpen') }, 'reconnect_unfinished'],
  ['a new link ended without a phone', { ...offline, ...link() }, 'no_power_or_network'],
  ['its links were purged', { ...offline, ...noLink }, 'no_power_or_network'],
];

describe('the likely cause of a silent number (specification section 4.7)', () => {
  for (const [facts, row, cause] of cases) {
    it(`the likely cause is ${cause ?? 'none'}: ${facts}`, () => {
      assert.equal(likelyCause(row, now), cause);
    });
  }

  it('the text of each likely cause has advice for the iPhone, and says if the cause is a guess', () => {
    for (const { cause, advice } of Object.values(healthCauseTexts)) {
      assert.match(cause, /\.$/);
      assert.match(advice, /^[A-Z].*\.$/);
    }
    const guesses = ['stopped_after_message', 'stopped_while_waiting', 'no_power_or_network'] as const;
    for (const guess of guesses) assert.match(healthCauseTexts[guess].cause, /probably|may/);
  });
});
