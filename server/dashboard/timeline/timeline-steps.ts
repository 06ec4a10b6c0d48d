import type { FailureCode, MessageDetail } from '#contract/message.ts';
import {
  type MessageSender,
  type TimelineActor,
  type TimelineStep,
  type TimelineStepKind,
  timelineStepKinds,
} from '#contract/timeline.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { NamedHandOutRow, StoredFileRow } from './timeline-store.ts';

/** An event of a message, parsed from its envelope. */
export interface StepEvent {
  readonly type: 'message.received' | 'message.sent' | 'message.delivered' | 'message.failed';
  readonly at: Date;
  readonly errorCode: FailureCode | null;
  readonly errorMessage: string | null;
}

export interface TimelineFacts {
  readonly message: MessageDetail;
  readonly sender: MessageSender | null;
  /** Hand-outs in the order of their numbers. */
  readonly handOuts: readonly NamedHandOutRow[];
  /** Events in the order of their sequence numbers. */
  readonly events: readonly StepEvent[];
  readonly media: StoredFileRow | null;
  /** The person, key, operator or contact that caused a failure; null if unknown. */
  readonly failedBy: TimelineActor | null;
  /** When this inbound message opted its sender out; null if it did not, or the contact has opted in since. */
  readonly optedOutAt: Date | null;
}

const server: TimelineActor = { kind: 'server', id: '', name: '' };

/**
 * The timeline of a message: its steps, oldest first (specification section 12.8). Status changes come from its events,
 * which include a failure that a late report corrected. The message's own times replace events that were purged or, on
 * the plan free, message.delivered.
 */
export function timelineSteps(facts: TimelineFacts): TimelineStep[] {
  const steps = facts.message.direction === 'inbound' ? inboundSteps(facts) : outboundSteps(facts);
  return steps.toSorted(
    (one, other) =>
      Date.parse(one.at) - Date.parse(other.at) ||
      timelineStepKinds.indexOf(one.kind) - timelineStepKinds.indexOf(other.kind),
  );
}

function inboundSteps({ message, optedOutAt }: TimelineFacts): TimelineStep[] {
  const contact: TimelineActor = { kind: 'contact', id: '', name: message.from };
  const steps = [step('received', message.created_at, contact)];
  if (optedOutAt) steps.push(step('opted_out', optedOutAt.toISOString(), contact));
  return steps;
}

function outboundSteps(facts: TimelineFacts): TimelineStep[] {
  const { message, sender, handOuts, media } = facts;
  const steps = [step('accepted', message.created_at, sender)];
  if (media) {
    const { name, type, size_bytes, created_at } = media;
    steps.push(step('media_stored', created_at.toISOString(), server, { media: { name, type, size_bytes } }));
  }
  for (const handOut of handOuts) {
    const details = { hand_out: handOut.hand_out };
    steps.push(step('handed_out', handOut.handed_out_at.toISOString(), deviceOf(handOut), details));
    if (handOut.resolved_at && wasQueuedAgain(facts, handOut))
      steps.push(step('queued_again', handOut.resolved_at.toISOString(), server, details));
  }
  return [...steps, ...stateSteps(facts)];
}

/** True if an unconfirmed hand-out queued its message again; otherwise it failed with device_timeout. */
function wasQueuedAgain({ message, handOuts }: TimelineFacts, { hand_out, outcome }: NamedHandOutRow) {
  if (outcome !== 'unconfirmed' || hand_out > 1) return false;
  return handOuts.length > 1 || message.error_code !== 'device_timeout';
}

function stateSteps(facts: TimelineFacts): TimelineStep[] {
  const { message, events } = facts;
  const happened = events.map((event) => ({ ...event, at: event.at.toISOString() }));
  const has = (type: StepEvent['type']) => happened.some((event) => event.type === type);
  const own = { errorCode: message.error_code, errorMessage: message.error_message };
  if (message.sent_at && !has('message.sent'))
    happened.push({ type: 'message.sent', at: message.sent_at, errorCode: null, errorMessage: null });
  if (message.delivered_at && !has('message.delivered'))
    happened.push({
      type: 'message.delivered',
      at: message.delivered_at,
      errorCode: null,
      errorMessage: null,
    });
  if (message.failed_at && !has('message.failed'))
    happened.push({ type: 'message.failed', at: message.failed_at, ...own });
  return happened.map((event, index) => {
    if (event.type !== 'message.failed') {
      const kind = event.type === 'message.sent' ? 'sent' : 'delivered';
      const isLate =
        kind === 'sent' && happened.slice(0, index).some(({ type }) => type === 'message.failed');
      return step(kind, event.at, reporterOf(facts), isLate ? { late: true } : {});
    }
    return step('failed', event.at, failedBy(facts, event.errorCode), {
      ...(event.errorCode && { error_code: event.errorCode }),
      ...(event.errorMessage !== null && { error_message: event.errorMessage }),
    });
  });
}

/** Failure codes that a person or a contact causes, not the phone or the server. */
const ofOthers: ReadonlySet<FailureCode | null> = new Set(['cancelled', 'number_removed', 'opted_out']);

function failedBy(facts: TimelineFacts, code: FailureCode | null): TimelineActor | null {
  if (ofOthers.has(code)) return facts.failedBy;
  return code === 'device_error' || code === 'not_delivered' ? reporterOf(facts) : server;
}

/**
 * The phone whose report decided the message's outcome: the phone of the hand-out with an outcome, otherwise of the
 * latest hand-out.
 */
function reporterOf({ handOuts }: TimelineFacts): TimelineActor | null {
  const reported = handOuts.findLast(({ outcome }) => outcome === 'sent' || outcome === 'failed');
  const handOut = reported ?? handOuts.at(-1);
  return handOut ? deviceOf(handOut) : null;
}

function deviceOf({ device_id, device_name }: NamedHandOutRow): TimelineActor {
  return { kind: 'device', id: publicId('dev', device_id), name: device_name ?? '' };
}

function step(
  kind: TimelineStepKind,
  at: string,
  actor: TimelineActor | null,
  details: TimelineStep['details'] = {},
): TimelineStep {
  return { kind, at, actor, details };
}
