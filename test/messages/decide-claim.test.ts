import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { again } from '#server/database/group-commit.ts';
import { decideClaim } from '#server/messages/claim-message.ts';
import type { ClaimFacts } from '#server/messages/claim-statement.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';

const now = new Date('2026-01-05T12:00:00Z');
const later = new Date(now.getTime() + 60_000);
const earlier = new Date(now.getTime() - 60_000);
const id = '01890000-0000-7000-8000-000000000001' as MessageId;

/** The facts of the newest poll of an active number with an empty queue. */
const idle: ClaimFacts = {
  n: 1,
  is_active: true,
  is_newest: true,
  is_requeued: false,
  mode: 'off',
  ready_at: null,
  new_contacts_until: null,
  head: null,
  has_queue: null,
  team_id: null,
  message_id: null,
  hand_out: 0,
  to_handle: '',
  content: '',
  media_name: null,
};
const given = { head: id, team_id: 'a team' as TeamId, message_id: id, hand_out: 2 };
const locked = { is_newest: null, is_requeued: null };

describe('the outcome of a claim (specification section 11.4)', () => {
  const cases: [string, Partial<ClaimFacts> | undefined, unknown][] = [
    ['no row', undefined, 'nothing'],
    ['an empty queue', {}, 'nothing'],
    ['a hand-out', given, id],
    ['a hand-out beside limits that are over', { ...given, mode: 'strict', ready_at: earlier }, id],
    ['a paused number', { ...locked, is_active: false }, 'nothing'],
    ['an older poll', { is_newest: false }, 'nothing'],
    ['a locked number', { ...locked, is_active: null }, again],
    ['a locked session', locked, again],
    ['a message that returned to the queue', { is_requeued: true }, again],
    ['a head that is locked or changed', { head: id }, again],
    ['a locked head under strict pacing', { head: id, mode: 'strict', has_queue: true }, again],
    ['a limit with a queue', { mode: 'gentle', ready_at: later, has_queue: true }, [later, true]],
    ['a limit without a queue', { mode: 'gentle', ready_at: later, has_queue: false }, 'nothing'],
    ['a limit that is over', { mode: 'gentle', ready_at: earlier, has_queue: true }, 'nothing'],
    [
      'a limit of the number under strict pacing',
      { mode: 'strict', ready_at: later, has_queue: true },
      [later, true],
    ],
    [
      'contacts that wait for a new hour',
      { mode: 'strict', new_contacts_until: later, has_queue: true },
      [later, false],
    ],
    ['contacts that wait for a reply', { mode: 'strict', has_queue: true }, [null, false]],
    [
      'no queue under strict pacing',
      { mode: 'strict', new_contacts_until: later, has_queue: false },
      'nothing',
    ],
  ];
  for (const [what, facts, expected] of cases) {
    const outcome = Array.isArray(expected)
      ? 'is held back'
      : expected === again
        ? 'is tried again'
        : 'ends the claim';
    it(`a claim with ${what}: ${outcome}`, () => {
      const claim = decideClaim(facts && { ...idle, ...facts }, now);
      if (claim === again) assert.equal(claim, expected);
      else if (claim.kind === 'paced') assert.deepEqual([claim.until, claim.isWholeNumber], expected);
      else assert.equal(claim.kind === 'hand_out' ? claim.handOut.message_id : claim.kind, expected);
    });
  }
});
