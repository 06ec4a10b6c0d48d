import type { ContactEventType, EventType, MessageEventType, NumberEventType } from '#contract/event.ts';
import { dueDeliveriesChannel, unpublishedEventsChannel } from '#server/database/channels.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import {
  type EventId,
  type MessageId,
  type NumberId,
  publicId,
  type TeamId,
  type WebhookId,
} from '#server/platform/ids.ts';

/** SQL for the id of an event's delivery to the webhook with this index (derived from the event's id). */
function sqlDeliveryId(eventId: string, index: string): string {
  return `overlay(${eventId}::text PLACING lpad(to_hex(${index}), 8, '0') FROM 29)::uuid`;
}

/**
 * SQL condition: the id may belong to a delivery of the event. The ids of an event's deliveries are one range of the
 * primary key.
 */
export function sqlDeliveryIdRange(id: string, eventId: string): string {
  const bound = (index: string) => `overlay(${eventId}::text PLACING '${index}' FROM 29)::uuid`;
  return `${id} BETWEEN ${bound('00000000')} AND ${bound('ffffffff')}`;
}

/** The columns of an event that its envelope contains. They never change, except that an erasure rewrites `data`. */
export interface EnvelopeColumns {
  readonly team_id: TeamId;
  readonly id: EventId;
  readonly type: EventType;
  readonly sequence: number;
  readonly created_at: Date;
  /** JSON, serialised once, when the event was written. */
  readonly data: string;
}

/**
 * The body of each attempt to deliver an event (specification section 6.2). All attempts have the same bytes, also
 * those of later releases: fields are neither added here nor moved (decision 0035).
 */
export function envelopeOf({ team_id, id, type, sequence, created_at, data }: EnvelopeColumns): string {
  const head = `"id":"${publicId('evt', id)}","type":"${type}","timestamp":"${created_at.toISOString()}"`;
  const tail = `"team_id":"${publicId('team', team_id)}","api_version":"v1","sequence":${sequence}`;
  return `{${head},"data":${data},${tail}}`;
}

interface EventFields {
  readonly teamId: TeamId;
  /** The event's sequence number: 1, 2, 3 … per message, contact or number, so that a receiver can order its events. */
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event of a message, a contact or a number. A contact's event may have no number. */
export type NewEvent = EventFields &
  (
    | { readonly type: MessageEventType; readonly messageId: MessageId; readonly numberId: NumberId }
    | { readonly type: ContactEventType; readonly contact: string; readonly numberId: NumberId | null }
    | { readonly type: NumberEventType; readonly numberId: NumberId }
  );

// This statement's snapshot decides which webhooks match; it locks no webhook (decision 0017). A delivery's id is its
// event's id with an index in the last 32 bits. So the id is unique, and sorts exactly as the event's id does; a random
// id would sort so only to the millisecond. The statement returns the teams with new deliveries, and the webhooks whose
// new deliveries are due now.
const insertEvents = transactionQuery<
  {
    teamIds: TeamId[];
    ids: EventId[];
    types: EventType[];
    messageIds: (MessageId | null)[];
    contacts: (string | null)[];
    numberIds: (NumberId | null)[];
    sequences: number[];
    data: string[];
    createdAt: Date;
  },
  { team_id: TeamId; due: WebhookId[] | null }
>(
  'events.append',
  `WITH new_events AS MATERIALIZED (
     SELECT * FROM unnest(:teamIds::uuid[], :ids::uuid[], :types::text[], :messageIds::uuid[], :contacts::text[],
       :numberIds::uuid[], :sequences::int[], :data::text[])
       WITH ORDINALITY AS t (team_id, id, type, message_id, contact, number_id, sequence, data, n)
   ), written AS (
     INSERT INTO events (team_id, id, type, message_id, contact, number_id, sequence, data, created_at)
     SELECT team_id, id, type, message_id, contact, number_id, sequence, data, :createdAt FROM new_events
   ), unpublished AS (
     INSERT INTO unpublished_events (team_id, event_id) SELECT team_id, id FROM new_events ORDER BY n
   ), matched AS MATERIALIZED (
     SELECT e.team_id, e.id AS event_id, e.type, e.n, w.id AS webhook_id, w.is_active,
       row_number() OVER (PARTITION BY e.n ORDER BY w.id) AS index
     FROM new_events e
     JOIN webhooks w ON w.team_id = e.team_id AND e.type = ANY (w.events)
     WHERE w.phone_number IS NULL OR w.phone_number =
       (SELECT phone_number FROM numbers WHERE team_id = e.team_id AND id = e.number_id)
   ), delivered AS (
     INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at)
     SELECT team_id, ${sqlDeliveryId('event_id', 'index')}, webhook_id, event_id, type,
       CASE WHEN is_active THEN 'pending' ELSE 'skipped' END, :createdAt, CASE WHEN NOT is_active THEN :createdAt END
     FROM matched
   ), due AS (
     INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
     SELECT webhook_id, ${sqlDeliveryId('event_id', 'index')}, team_id, event_id, :createdAt
     FROM matched WHERE is_active ORDER BY n
   )
   SELECT team_id, array_agg(DISTINCT webhook_id) FILTER (WHERE is_active) AS due FROM matched GROUP BY team_id`,
  { changes: 'delivery', team: 'team_id' },
).rows;

/**
 * Outbox: writes the events of state changes in the transaction of those changes. Each event gets one delivery for
 * every webhook that matches at that moment (specification sections 6.1 and 6.3, decision 0017). A delivery is due now,
 * or skipped if its webhook is off. A team has at most 100 webhooks, so the rows of one event are few.
 *
 * The data is serialised here, once, so that every attempt sends the same bytes. The commit notifies the publisher and
 * the dispatchers.
 */
export async function appendEvents(
  trx: Transaction,
  { clock, ids }: Runtime,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const createdAt = clock.now();
  const rows = events.map((event) => ({ ...event, id: ids.next('evt', createdAt.getTime()) }));
  const written = await insertEvents(trx, {
    teamIds: rows.map((row) => row.teamId),
    ids: rows.map((row) => row.id),
    types: rows.map((row) => row.type),
    messageIds: rows.map((row) => ('messageId' in row ? row.messageId : null)),
    contacts: rows.map((row) => ('contact' in row ? row.contact : null)),
    numberIds: rows.map((row) => row.numberId),
    sequences: rows.map((row) => row.sequence),
    data: rows.map((row) => JSON.stringify(row.data)),
    createdAt,
  });
  trx.notifyAfterCommit(unpublishedEventsChannel);
  const due = written.flatMap((of) => of.due ?? []);
  if (due.length > 0) trx.notifyAfterCommit(dueDeliveriesChannel, due);
}
