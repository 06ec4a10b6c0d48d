import type { EventType, MessageEventType } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { MessageRow } from './message.ts';
import { type CountedOutcome, countOutcomes } from './message-metrics.ts';
import { deviceTextStart } from './message-status.ts';
import { eventData } from './message-view.ts';

const outcomeOfType: Readonly<Record<MessageEventType, CountedOutcome>> = {
  'message.received': 'received',
  'message.sent': 'sent',
  'message.delivered': 'delivered',
  'message.failed': 'failed',
};

/**
 * Writes the event of each message's latest change. The statement that made the change has raised last_event_sequence.
 */
export async function appendMessageEvents(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids' | 'metrics'>,
  type: MessageEventType,
  messages: readonly MessageRow[],
): Promise<void> {
  const events = messages.map((message) => ({
    teamId: message.team_id,
    numberId: message.number_id,
    messageId: message.id,
    type,
    sequence: message.last_event_sequence,
    data: eventData(message),
  }));
  await appendEvents(trx, services, events);
  countOutcomes(trx, services, outcomeOfType[type], messages);
}

/** Removes the contact's handle, the text and the media from a message (specification section 12.14). */
export function eraseMessageRow(message: MessageRow): MessageRow {
  return {
    ...message,
    ...(message.direction === 'inbound' ? { from_handle: '' } : { to_handle: '' }),
    content: '',
    media_url: null,
    device_error: null,
  };
}

/**
 * Removes the contact's handle, the text and the media from the `data` of an event. It also removes the phone's error
 * text, which may quote a handle.
 */
export function eraseEventData(
  type: EventType,
  data: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (type === 'contact.opted_out' || type === 'contact.opted_in') return { ...data, contact: '' };
  const erased = { ...data, content: '', media_url: null };
  const message =
    typeof data.error_message === 'string'
      ? { error_message: data.error_message.split(deviceTextStart)[0] }
      : {};
  return type === 'message.received' ? { ...erased, from: '' } : { ...erased, to: '', ...message };
}
