import type { Event } from '#contract/event.ts';
import type { Timeline, TimelineActor, TimelineEvent } from '#contract/timeline.ts';
import { timelineDeliveriesMax } from '#contract/timeline.ts';
import { findAuditActor } from '#server/audit/audit-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { envelopeOf } from '#server/events/envelope.ts';
import type { MessageRow } from '#server/messages/message.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { messageDetailView } from '#server/messages/message-view.ts';
import { explainWaiting } from '#server/messages/waiting-reason.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { findOptOut } from '#server/opt-outs/opt-out-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type MessageId, parseId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { attemptSummaryView, deliveryView } from '#server/webhooks/deliveries/delivery-view.ts';
import { type StepEvent, timelineSteps } from './timeline-steps.ts';
import {
  findSenders,
  findStoredFile,
  findsDeliveryReport,
  listAttemptsOfDeliveries,
  listDeliveriesOfEvents,
  listMessageEvents,
  listNamedHandOuts,
  type MessageEventRow,
} from './timeline-store.ts';

/**
 * The timeline of a message: its steps with time and actor, its events and their deliveries (specification section
 * 12.8). Each statement reads a limited number of rows by an index.
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
  const detail = messageDetailView(message, await explainWaiting(services, message));
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
