import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageDetail } from '#contract/message.ts';
import type { TimelineActor } from '#contract/timeline.ts';
import {
  type StepEvent,
  type TimelineFacts,
  timelineSteps,
} from '#server/dashboard/timeline/get-timeline.ts';
import type { NamedHandOutRow } from '#server/dashboard/timeline/timeline-store.ts';
import type { DeviceId } from '#server/platform/ids.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const time = (second: number) => new Date(Date.UTC(2026, 10, 21, 9, 30, second));

const message: MessageDetail = {
  id: 'msg_01h2xcejqtf2nbrexx3vqjhp41',
  to: '+14155550101',
  from: '+14155550100',
  content: 'Your table is ready.',
  media_url: null,
  status: 'queued',
  direction: 'outbound',
  created_at: time(0).toISOString(),
  delivered_at: null,
  sent_at: null,
  failed_at: null,
  error_code: null,
  error_message: null,
  waiting_reason: null,
  expected_at: null,
  may_have_been_sent: false,
  contact_id: null,
};
const facts: TimelineFacts = {
  message,
  sender: { kind: 'key', id: 'key_01h2xcejqtf2nbrexx3vqjhp41', name: 'Bookings' },
  handOuts: [],
  events: [],
  media: null,
  failedBy: null,
  optedOutAt: null,
};

function handOut(
  hand_out: number,
  outcome: NamedHandOutRow['outcome'],
  [at, resolvedAt]: readonly [number, number?],
): NamedHandOutRow {
  const id = `01890000-0000-7000-8000-00000000000${hand_out}` as DeviceId;
  const resolved_at = resolvedAt === undefined ? null : time(resolvedAt);
  return {
    hand_out,
    device_id: id,
    device_name: `Phone ${hand_out}`,
    handed_out_at: time(at),
    outcome,
    resolved_at,
  };
}

function event(type: StepEvent['type'], at: number, failure: Partial<StepEvent> = {}): StepEvent {
  return { type, at: time(at), errorCode: null, errorMessage: null, ...failure };
}

/** Steps as texts: seconds, kind and actor, as in `2 sent by device Phone 1`. */
function lines(told: Partial<TimelineFacts>): string[] {
  return timelineSteps({ ...facts, ...told }).map(({ kind, at, actor, details }) => {
    const extra = Object.keys(details).length > 0 ? ` ${JSON.stringify(details)}` : '';
    const by = actor ? ` by ${actor.kind}${actor.name && ` ${actor.name}`}` : '';
    return `${(Date.parse(at) - time(0).getTime()) / 1_000} ${kind}${by}${extra}`;
  });
}

const timeout: Partial<StepEvent> = { errorCode: 'device_timeout', errorMessage: 'No report came.' };
const timedOut = {
  status: 'failed',
  error_code: 'device_timeout',
  error_message: 'No report came.',
} as const;
const contact: TimelineActor = { kind: 'contact', id: '', name: '+14155550101' };

describe('the steps of a message', () => {
  it('a waiting message has the step “accepted”, with its sender as the actor if the sender is known', () => {
    assert.deepEqual(lines({}), ['0 accepted by key Bookings']);
    assert.deepEqual(lines({ sender: null }), ['0 accepted']);
  });

  it('a delivered message has steps for its media, and for the hand-out and reports of its phone', () => {
    const media = { name: 'menu.pdf', type: 'application/pdf', size_bytes: 3, created_at: time(1) };
    assert.deepEqual(
      lines({
        message: { ...message, status: 'delivered', sent_at: time(4).toISOString() },
        media,
        handOuts: [handOut(1, 'sent', [2, 4])],
        events: [event('message.sent', 4), event('message.delivered', 5)],
      }),
      [
        '0 accepted by key Bookings',
        '1 media_stored by server {"media":{"name":"menu.pdf","type":"application/pdf","size_bytes":3}}',
        '2 handed_out by device Phone 1 {"hand_out":1}',
        '4 sent by device Phone 1',
        '5 delivered by device Phone 1',
      ],
    );
  });

  it('the message’s own times replace those of missing events', () => {
    assert.deepEqual(
      lines({
        message: {
          ...message,
          status: 'delivered',
          sent_at: time(4).toISOString(),
          delivered_at: time(5).toISOString(),
        },
        handOuts: [handOut(1, 'sent', [2, 4])],
        events: [event('message.sent', 4)],
      }).slice(2),
      ['4 sent by device Phone 1', '5 delivered by device Phone 1'],
    );
    const failed = { ...message, ...timedOut, failed_at: time(9).toISOString() };
    assert.deepEqual(
      lines({ message: failed }).at(-1),
      '9 failed by server {"error_code":"device_timeout","error_message":"No report came."}',
    );
  });

  it('a message without a report is failed by the server, and a later report is marked late', () => {
    const silent = [handOut(1, 'unconfirmed', [2, 90])];
    assert.deepEqual(
      lines({
        message: { ...message, ...timedOut },
        handOuts: silent,
        events: [event('message.failed', 90, timeout)],
      }),
      [
        '0 accepted by key Bookings',
        '2 handed_out by device Phone 1 {"hand_out":1}',
        '90 failed by server {"error_code":"device_timeout","error_message":"No report came."}',
      ],
    );
    const late = lines({
      message: { ...message, status: 'sent', sent_at: time(95).toISOString() },
      handOuts: [handOut(1, 'sent', [2, 95])],
      events: [event('message.failed', 90, timeout), event('message.sent', 95)],
    });
    assert.equal(late.at(-1), '95 sent by device Phone 1 {"late":true}');
    assert.equal(late.filter((line) => line.includes('failed')).length, 1);
  });

  it('a message with two hand-outs has the step “queued again” between them, even before the second hand-out is due', () => {
    const first = handOut(1, 'unconfirmed', [2, 90]);
    assert.deepEqual(lines({ handOuts: [first] }).slice(1), [
      '2 handed_out by device Phone 1 {"hand_out":1}',
      '90 queued_again by server {"hand_out":1}',
    ]);
    const second = lines({
      message: { ...message, ...timedOut },
      handOuts: [first, handOut(2, 'unconfirmed', [91, 180])],
      events: [event('message.failed', 180, timeout)],
    });
    assert.deepEqual(second.slice(2), [
      '90 queued_again by server {"hand_out":1}',
      '91 handed_out by device Phone 2 {"hand_out":2}',
      '180 failed by server {"error_code":"device_timeout","error_message":"No report came."}',
    ]);
  });

  for (const [errorCode, by] of [
    ['cancelled', 'contact +14155550101'],
    ['number_removed', 'contact +14155550101'],
    ['opted_out', 'contact +14155550101'],
    ['device_error', 'device Phone 1'],
    ['not_delivered', 'device Phone 1'],
    ['expired', 'server'],
    ['media_unavailable', 'server'],
    ['media_too_large', 'server'],
  ] as const) {
    it(`the actor of a failure with ${errorCode} is ${by === 'contact +14155550101' ? 'the actor of its cause' : by}`, () => {
      const told = lines({
        message: { ...message, status: 'failed', error_code: errorCode },
        handOuts: [handOut(1, 'failed', [2, 3])],
        events: [event('message.failed', 3, { errorCode })],
        failedBy: contact,
      });
      assert.equal(told.at(-1), `3 failed by ${by} {"error_code":"${errorCode}"}`);
    });
  }

  it('steps of the same time are in their logical order', () => {
    const at = lines({
      message: { ...message, status: 'delivered' },
      media: { name: 'menu.pdf', type: 'application/pdf', size_bytes: 3, created_at: time(0) },
      handOuts: [handOut(1, 'sent', [0, 0])],
      events: [event('message.delivered', 0), event('message.sent', 0)],
    });
    assertEach(at, (line) => line.split(' ')[1], [
      'accepted',
      'media_stored',
      'handed_out',
      'sent',
      'delivered',
    ]);
  });
});
