import type { ContactEventType, Event, EventType } from '#contract/event.ts';
import { envelopeOf } from '#server/events/append-events.ts';
import type { EventId, MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { columnBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface StoredEvent {
  readonly id: EventId;
  readonly teamId: TeamId;
  readonly type: EventType;
  /** null for an event of a contact. */
  readonly messageId: MessageId | null;
  readonly numberId: NumberId | null;
  /** Sequence number among the events of the message or contact. */
  readonly sequence: number;
  /** Body as it is delivered. */
  readonly body: string;
  readonly createdAt: Date;
}

interface EventFilter {
  readonly teamId?: TeamId;
  readonly messageId?: MessageId;
}

/** Lists events that match the filter, published or not, in the order in which they were written. */
export async function storedEvents(
  { query }: Service,
  { teamId, messageId }: EventFilter = {},
): Promise<StoredEvent[]> {
  const rows = await query<Omit<StoredEvent, 'body'> & { readonly data: string }>(
    `SELECT id, team_id AS "teamId", type, message_id AS "messageId", number_id AS "numberId", sequence, data,
       created_at AS "createdAt"
     FROM events WHERE ($1::uuid IS NULL OR team_id = $1) AND ($2::uuid IS NULL OR message_id = $2) ORDER BY id`,
    [teamId ?? null, messageId ?? null],
  );
  return rows.map(({ data, ...row }) => ({
    ...row,
    body: envelopeOf({ ...row, data, team_id: row.teamId, created_at: row.createdAt }),
  }));
}

type ContactEvent = Extract<Event, { type: ContactEventType }>;

/** Lists the bodies of the team's events of contacts, in the order in which they were written. */
export async function contactEventsOf(service: Service, teamId: TeamId): Promise<ContactEvent[]> {
  const events = await storedEvents(service, { teamId });
  return events.flatMap(({ type, body }) => (type.startsWith('contact.') ? [JSON.parse(body)] : []));
}

/** Lists events without a position in the feed, in the order in which they were written. */
export const unpublishedEvents = columnBy<EventId, [teamId?: TeamId]>(
  'SELECT event_id FROM unpublished_events WHERE $1::uuid IS NULL OR team_id = $1 ORDER BY seq',
);

/** Events of the feed, by their positions. */
export const feedOf = columnBy<EventId, [teamId: TeamId]>(
  'SELECT event_id FROM event_feed WHERE team_id = $1 ORDER BY position',
);
