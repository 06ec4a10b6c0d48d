import type { EventType } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement, type Transaction } from '#server/database/statement.ts';
import { type EventId, type MessageId, type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';

export interface NewEvent {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  readonly type: EventType;
  /** 1, 2, 3 … per message, so that a receiver can put its events in order. */
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const insertEvents = statement<Record<string, never>>(
  'outbox.append',
  `INSERT INTO events (team_id, id, type, message_id, number_id, sequence, body, created_at)
   SELECT team_id, id, type, message_id, number_id, sequence, body, $8
   FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::smallint[], $7::text[])
     AS t (team_id, id, type, message_id, number_id, sequence, body)`,
);

/**
 * Writes the events of state changes in the transaction of those changes (specification section 6.1). Each envelope is
 * serialised here, once; what is stored is what every attempt will send.
 */
export async function append(
  trx: Transaction,
  { clock, ids }: Pick<Runtime, 'clock' | 'ids'>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const createdAt = clock.now();
  const rows = events.map((event) => ({ ...event, id: ids.next('evt') }));
  await insertEvents.row(
    trx,
    rows.map((row) => row.teamId),
    rows.map((row) => row.id),
    rows.map((row) => row.type),
    rows.map((row) => row.messageId),
    rows.map((row) => row.numberId),
    rows.map((row) => row.sequence),
    rows.map((row) => envelope(row, row.id, createdAt)),
    createdAt,
  );
}

/** The body of every delivery of an event (specification section 6.2). */
function envelope(event: NewEvent, id: EventId, createdAt: Date): string {
  return JSON.stringify({
    id: publicId('evt', id),
    type: event.type,
    timestamp: createdAt.toISOString(),
    data: event.data,
    team_id: publicId('team', event.teamId),
    api_version: 'v1',
    sequence: event.sequence,
  });
}
