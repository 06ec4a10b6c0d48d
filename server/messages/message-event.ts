import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { append, type EventType } from '#server/outbox/append.ts';
import type { MessageRow } from './message.ts';
import { eventData } from './message-view.ts';

/** Writes the event of a message's latest change; its counter was raised together with the status. */
export async function appendMessageEvent(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  type: EventType,
  message: MessageRow,
): Promise<void> {
  await append(trx, services, {
    teamId: message.team_id,
    numberId: message.number_id,
    messageId: message.id,
    type,
    sequence: message.events,
    data: eventData(message),
  });
}
