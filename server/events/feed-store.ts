import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { EventId, TeamId } from '#server/platform/ids/ids.ts';
import { type EnvelopeColumns, readStoredEnvelope } from './stored-envelope.ts';

/** An event with its position in the feed. Positions have gaps, and the API does not show them. */
export interface FeedEvent {
  readonly id: EventId;
  readonly position: number;
  /** The envelope: the same body that webhooks get. */
  readonly body: string;
}

/** The position up to which a reader has read a team's feed. */
export interface FeedPosition {
  readonly teamId: TeamId;
  readonly position: number;
}

/** Key of the advisory lock that allows one publisher at a time. */
const publisherLockId = 4_017;

const tryLock = transactionStatement<[], { readonly taken: boolean }>(
  'events.try-publisher-lock',
  `SELECT pg_try_advisory_xact_lock(${publisherLockId}) AS taken`,
);

/**
 * Publishes the oldest events without a position, at most `limit`. The caller holds the publisher lock.
 * @returns the teams of these events, with the number of events of each
 */
export const publishNext = transactionStatement<
  [limit: number],
  { readonly team_id: TeamId; readonly events: number }
>(
  'events.publish',
  `WITH moved AS (
     DELETE FROM unpublished_events u USING (SELECT seq FROM unpublished_events ORDER BY seq LIMIT $1) next
     WHERE u.seq = next.seq RETURNING u.seq, u.team_id, u.event_id
   ), placed AS (
     INSERT INTO event_feed (team_id, event_id) SELECT team_id, event_id FROM moved ORDER BY seq RETURNING team_id
   )
   SELECT team_id, count(*) AS events FROM placed GROUP BY team_id`,
  { changes: 'event', team: 'team_id' },
).rows;
const findPosition = statement<[TeamId, EventId], { readonly position: number | null }>(
  'events.find-position',
  // When a month is dropped, the positions of its events are deleted before the events. An event without a position
  // counts as unknown then.
  `SELECT f.position FROM events e LEFT JOIN event_feed f ON f.team_id = e.team_id AND f.event_id = e.id
   WHERE e.team_id = $1 AND e.id = $2
     AND (f.position IS NOT NULL OR EXISTS (SELECT FROM unpublished_events u WHERE u.event_id = $2))`,
);
// Joins each position to its event, reading only the month that the event's id contains.
const page = statement<[TeamId, number, number], FeedEvent & Omit<EnvelopeColumns, 'team_id'>>(
  'events.feed-page',
  `SELECT f.event_id AS id, f.position, e.type, e.message_id, e.body
   FROM (SELECT team_id, position, event_id FROM event_feed WHERE team_id = $1 AND position > $2 ORDER BY position LIMIT $3) f
   CROSS JOIN LATERAL (SELECT type, message_id, body FROM events WHERE team_id = f.team_id AND id = f.event_id OFFSET 0) e
   ORDER BY f.position`,
);
const withMore = statement<[TeamId[], number[]], { readonly team_id: TeamId }>(
  'events.teams-with-new-events',
  `SELECT t.team_id FROM unnest($1::uuid[], $2::bigint[]) AS t (team_id, position)
   WHERE EXISTS (SELECT FROM event_feed f WHERE f.team_id = t.team_id AND f.position > t.position)`,
);

/** Makes this transaction the only publisher until it ends. @returns false if another transaction is the publisher */
export async function tryPublisherLock(trx: Transaction): Promise<boolean> {
  return (await tryLock.row(trx))?.taken === true;
}

/**
 * Finds the position of an event. @returns null for an event that has no position yet; undefined for an unknown event
 */
export async function positionOfEvent(
  db: Queryable,
  teamId: TeamId,
  eventId: EventId,
): Promise<number | null | undefined> {
  return (await findPosition.row(db, teamId, eventId))?.position;
}

/** Lists the events after a position, oldest first. The cost depends on the page size, not on the position. */
export async function readFeed(
  db: Queryable,
  { teamId, position: after }: FeedPosition,
  limit: number,
): Promise<FeedEvent[]> {
  const rows = await page.rows(db, teamId, after, limit);
  return rows.map(({ id, position, type, message_id, body }) => ({
    id,
    position,
    body: readStoredEnvelope({ team_id: teamId, id, type, message_id }, body),
  }));
}

/** Filters feed positions to those with newer events. @returns the teams of these positions */
export async function filterTeamsWithNewEvents(
  db: Queryable,
  positions: readonly FeedPosition[],
): Promise<TeamId[]> {
  const rows = await withMore.rows(
    db,
    positions.map((position) => position.teamId),
    positions.map((position) => position.position),
  );
  return rows.map((row) => row.team_id);
}
