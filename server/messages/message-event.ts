import type { MessageEventType } from '#contract/event.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { appendEvents } from '#server/events/append-events.ts';
import { eventData, type MessageRow } from './message.ts';
import { countOutcomes } from './message-metrics.ts';

/**
 * Writes the event of each message's latest change. The statement that made the change has raised last_event_sequence.
 */
export async function appendMessageEvents(
  trx: Transaction,
  services: Runtime,
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
  countOutcomes(trx, services, type, messages);
}
