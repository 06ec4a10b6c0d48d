import type { Runtime } from '#server/database/runtime.ts';
import { statement, type Transaction } from '#server/database/statement.ts';
import { type EventId, type MessageId, type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';

export type EventType = 'message.received' | 'message.sent' | 'message.delivered' | 'message.failed';

export interface NewEvent {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  readonly type: EventType;
  /** 1, 2, 3 … per message, so that a receiver can put its events in order. */
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const insertEvent = statement<Record<string, never>>(
  'outbox.append',
  `INSERT INTO events (team_id, id, type, message_id, number_id, sequence, body, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/**
 * Writes the event of a state change in the transaction of that change (specification section 6.1). The envelope
 * is serialised here, once; what is stored is what every attempt will send.
 */
export async function append(
  trx: Transaction,
  { clock, ids }: Pick<Runtime, 'clock' | 'ids'>,
  event: NewEvent,
): Promise<EventId> {
  const id = ids.next('evt');
  const createdAt = clock.now();
  const body = JSON.stringify({
    id: publicId('evt', id),
    type: event.type,
    timestamp: createdAt.toISOString(),
    data: event.data,
    team_id: publicId('team', event.teamId),
    api_version: 'v1',
    sequence: event.sequence,
  });
  await insertEvent.row(
    trx,
    event.teamId,
    id,
    event.type,
    event.messageId,
    event.numberId,
    event.sequence,
    body,
    createdAt,
  );
  return id;
}
