import type { MessageEventType } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { MessageRow } from './message.ts';
import { eventData } from './message-view.ts';

/** Writes the event of the latest change of each message; their counters were raised together with the status. */
export async function appendMessageEvents(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
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
}
