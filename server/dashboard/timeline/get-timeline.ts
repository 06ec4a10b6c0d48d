import type { Event } from '#contract/event.ts';
import type { FailureCode, MessageDetail, MessageSender } from '#contract/message.ts';
import {
  type Timeline,
  type TimelineActor,
  type TimelineEvent,
  type TimelineStep,
  type TimelineStepKind,
  timelineDeliveriesMax,
  timelineStepKinds,
} from '#contract/timeline.ts';
import { findAuditActor } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { envelopeOf } from '#server/events/append-events.ts';
import { type MessageRow, messageDetailView } from '#server/messages/message.ts';
import { findContactsOf, findMessage } from '#server/messages/message-store.ts';
import { findSenders } from '#server/messages/senders.ts';
import { explainWaiting } from '#server/messages/waiting-reason.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { findOptOut } from '#server/opt-outs/opt-out-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type MessageId, parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { attemptSummaryView, deliveryView } from '#server/webhooks/deliveries/deliveries.ts';
import {
  findStoredFile,
  findsDeliveryReport,
  listAttemptsOfDeliveries,
  listDeliveriesOfEvents,
  listMessageEvents,
  listNamedHandOuts,
  type MessageEventRow,
  type NamedHandOutRow,
  type StoredFileRow,
} from './timeline-store.ts';

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
 * The timeline of a message: its steps, oldest first. Status changes come from its events,
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

/** True if an unconfirmed hand-out queued its message again; otherwise the message failed with device_timeout. */
function wasQueuedAgain({ message, handOuts }: TimelineFacts, { hand_out, outcome }: NamedHandOutRow) {
  if (outcome !== 'unconfirmed' || hand_out > 1) return false;
  return handOuts.length > 1 || message.error_code !== 'device_timeout';
}

function stateSteps(facts: TimelineFacts): TimelineStep[] {
  const { message, events } = facts;
  const happened = events.map((event) => ({ ...event, at: event.at.toISOString() }));
  const failure = { errorCode: message.error_code, errorMessage: message.error_message };
  const times = [
    ['message.sent', message.sent_at],
    ['message.delivered', message.delivered_at],
    ['message.failed', message.failed_at],
  ] as const;
  for (const [type, at] of times)
    if (at && !happened.some((event) => event.type === type)) happened.push({ type, at, ...failure });
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

/**
 * The timeline of a message: its steps with time and actor, its events and their deliveries.
 * Each statement reads a limited number of rows by an index.
 * @throws AppError 404
 */
export async function getTimeline(
  services: Runtime,
  teamId: TeamId,
  messageId: MessageId,
): Promise<Timeline> {
  const { pages } = services.database;
  const message = await findMessage(pages, { teamId, messageId });
  if (!message) throw notFound('message');
  const waiting = await explainWaiting(services, message);
  const person = (await findContactsOf(pages, teamId, [message])).get(message);
  const detail = messageDetailView(message, waiting, person?.id ?? null);
  const handOuts = await listNamedHandOuts(pages, { teamId, messageId });
  const events = await listMessageEvents(pages, { teamId, messageId });
  const senders = await findSenders(pages, teamId, [message.sent_by]);
  const sender = senders.get(message.sent_by) ?? null;
  const steps = timelineSteps({
    message: detail,
    sender,
    handOuts,
    events: events.map(readEvent),
    media: message.direction === 'outbound' ? ((await findStoredFile(pages, { messageId })) ?? null) : null,
    failedBy: await findFailedBy(services, message),
    optedOutAt: await findOptedOutAt(services, message),
  });
  return {
    message: detail,
    name: person?.name ?? null,
    sender,
    reports_delivery:
      message.direction === 'inbound'
        ? null
        : message.delivered_at !== null ||
          (await findsDeliveryReport(pages, { teamId, phoneNumber: message.from_handle })),
    steps,
    events: await withDeliveries(services, teamId, events),
  };
}

function readEvent({ type, created_at: at, data }: MessageEventRow): StepEvent {
  if (type !== 'message.failed') return { type, at, errorCode: null, errorMessage: null };
  const failed: Extract<Event, { type: typeof type }>['data'] = JSON.parse(data);
  return { type, at, errorCode: failed.error_code, errorMessage: failed.error_message };
}

/** The actor whose cancellation, deletion of the number or opt-out failed a message. */
async function findFailedBy(services: Runtime, message: MessageRow): Promise<TimelineActor | null> {
  const { pages } = services.database;
  const { team_id: teamId, failed_at: failedAt } = message;
  if (message.error_code === 'cancelled' && failedAt) {
    const target = publicId('msg', message.id);
    return findActor(services, teamId, { names: ['message.cancelled'], target, at: failedAt });
  }
  if (message.error_code === 'number_removed') {
    const deletedAt = (await findNumber(pages, { teamId, numberId: message.number_id }))?.deleted_at;
    const target = publicId('num', message.number_id);
    const names = ['number.deleted', 'number.released'] as const;
    return deletedAt ? findActor(services, teamId, { names, target, at: deletedAt }) : null;
  }
  if (message.error_code === 'opted_out') {
    const optOut = await findOptOut(pages, { teamId, contact: contactOf(message.to_handle) });
    if (!optOut) return null;
    if (optOut.message_id) return { kind: 'contact', id: '', name: message.to_handle };
    const [target, at] = [publicId('opt', optOut.id), optOut.opted_out_at];
    return findActor(services, teamId, { names: ['contact.opted_out'], target, at });
  }
  return null;
}

/** Finds the actor in the audit log, with the key's or person's current name. */
async function findActor(
  { database }: Runtime,
  teamId: TeamId,
  action: Parameters<typeof findAuditActor>[2],
): Promise<TimelineActor | null> {
  const actor = await findAuditActor(database.pages, teamId, action);
  if (!actor || actor.kind === 'account') return null;
  const { kind, id } = actor;
  const senderId = parseId('key', id) ?? parseId('usr', id);
  const senders = await findSenders(database.pages, teamId, [senderId ?? null]);
  return { kind, id, name: senders.get(senderId ?? null)?.name ?? actor.name };
}

async function findOptedOutAt({ database }: Runtime, message: MessageRow): Promise<Date | null> {
  if (message.direction === 'outbound') return null;
  const contact = contactOf(message.from_handle);
  const optOut = await findOptOut(database.pages, { teamId: message.team_id, contact });
  return optOut?.message_id === message.id ? optOut.opted_out_at : null;
}

async function withDeliveries(
  { database }: Runtime,
  teamId: TeamId,
  events: readonly MessageEventRow[],
): Promise<TimelineEvent[]> {
  if (events.length === 0) return [];
  const eventIds = events.map(({ id }) => id);
  const deliveries = await listDeliveriesOfEvents(database.pages, { teamId, eventIds });
  const deliveryIds = deliveries.map(({ id }) => id);
  const attempts = await listAttemptsOfDeliveries(database.pages, { teamId, deliveryIds });
  return events.map((event) => {
    const own = deliveries.filter(({ event_id }) => event_id === event.id);
    return {
      event: JSON.parse(envelopeOf(event)) as Event,
      deliveries: own.slice(0, timelineDeliveriesMax).map((delivery) => ({
        ...deliveryView(delivery),
        url: delivery.url,
        attempts: attempts.filter((attempt) => attempt.delivery_id === delivery.id).map(attemptSummaryView),
      })),
      more_deliveries: own.length > timelineDeliveriesMax,
    };
  });
}
