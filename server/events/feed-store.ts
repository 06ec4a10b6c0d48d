import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { EventId, TeamId } from '#server/platform/ids.ts';
import { type EnvelopeColumns, envelopeOf } from './append-events.ts';

/** An event with its position in the feed. The API does not show positions, which have gaps. */
export interface FeedEvent {
  readonly id: EventId;
  readonly position: number;
  /** The envelope: the same body that webhooks get. */
  readonly body: string;
}

type PageRow = { readonly gap: boolean } & (
  | (Omit<FeedEvent, 'body'> & Omit<EnvelopeColumns, 'team_id'>)
  | { readonly id: null }
);

interface FeedPage {
  readonly events: FeedEvent[];
  /** Whether an event after the reader's position was removed, so that the reader may have missed it. */
  readonly gap: boolean;
}

/** Upper bound on the positions that are searched for events whose transactions ended before an older event's. */
const outOfOrderMax = 1_000;

/** The position up to which a reader has read a team's feed. */
export interface FeedPosition {
  readonly teamId: TeamId;
  readonly position: number;
}

/** Key of the advisory lock that allows one publisher at a time. */
const publisherLockId = 4_017;

/** Makes this transaction the only publisher until it ends. @returns false if another transaction is the publisher */
export const tryPublisherLock = transactionQuery(
  'events.try-publisher-lock',
  `SELECT FROM pg_try_advisory_xact_lock(${publisherLockId}) AS taken WHERE taken`,
).hasRow;

/** The events of a team that a batch published; the fields are null in the row of a batch without events. */
type PublishedRow = { readonly after: number } & (
  | { readonly team_id: TeamId; readonly events: number }
  | { readonly team_id: null; readonly events: null }
);

/**
 * Publishes the oldest events without a position, at most `limit`, from a mark on. The caller holds the publisher lock.
 * `after` is the place in the queue behind the last published event; without an event, the end of the queue.
 */
const publish = transactionQuery<{ limit: number; from: number }, PublishedRow>(
  'events.publish',
  `WITH moved AS (
     DELETE FROM unpublished_events
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM unpublished_events WHERE seq >= :from ORDER BY seq LIMIT :limit))
     RETURNING seq, team_id, event_id
   ), placed AS (
     INSERT INTO event_feed (team_id, event_id) SELECT team_id, event_id FROM moved ORDER BY seq RETURNING team_id
   )
   SELECT p.team_id, p.events, m.after
   FROM (SELECT coalesce(max(seq) + 1, (SELECT last_value + is_called::int FROM unpublished_events_seq)) AS after FROM moved) m
   LEFT JOIN (SELECT team_id, count(*) AS events FROM placed GROUP BY team_id) p ON true`,
  { changes: 'event', team: 'team_id' },
).rows;

/**
 * Finds the first event without a position below a mark. The cost depends on the number of dead rows below the mark.
 */
export const findUnpublishedBefore = query<{ before: number }, { readonly seq: number }>(
  'events.find-unpublished-before',
  'SELECT seq FROM unpublished_events WHERE seq < :before ORDER BY seq LIMIT 1',
).row;

interface EventIds {
  readonly teamId: TeamId;
  readonly eventId: EventId;
}

/**
 * Finds the position of an event that is kept, or that is the newest removed event of its team. It is null for an event
 * that has no position yet.
 */
export const findPosition = query<EventIds, { readonly position: number | null }>(
  'events.find-position',
  // An event that has no position, and does not wait for one, counts as removed.
  `SELECT f.position FROM events e LEFT JOIN event_feed f ON f.team_id = e.team_id AND f.event_id = e.id
   WHERE e.team_id = :teamId AND e.id = :eventId
     AND (f.position IS NOT NULL OR EXISTS (SELECT FROM unpublished_events u WHERE u.event_id = :eventId))
   UNION ALL SELECT position FROM feed_removals WHERE team_id = :teamId AND event_id = :eventId`,
).row;

/**
 * Estimates the position of an unknown event by the time in its id: the position of the newest kept event with a lower
 * id. An event with a higher id may have a lower position, if its transaction ended first. So up to 1,000 positions
 * before are searched for such events, and the result lies before them. The statement returns no row if no event with a
 * lower id is kept.
 */
export const estimatePosition = query<EventIds, { readonly position: number }>(
  'events.estimate-position',
  `SELECT coalesce(min(later.position) - 1, max(earlier.position)) AS position
   FROM (
     SELECT position FROM event_feed WHERE team_id = :teamId AND event_id < :eventId
     ORDER BY team_id DESC, event_id DESC LIMIT 1
   ) earlier
   LEFT JOIN LATERAL (
     SELECT position FROM (
       SELECT position, event_id FROM event_feed WHERE team_id = :teamId AND position < earlier.position
       ORDER BY team_id DESC, position DESC LIMIT ${outOfOrderMax}
     ) before WHERE before.event_id > :eventId
   ) later ON true
   HAVING count(*) > 0`,
).row;

// Looks up the event of each position by its primary key. An empty page is one row without an event, so that page and
// removals are read in the same snapshot.
const page = query<FeedPosition & { limit: number }, PageRow>(
  'events.feed-page',
  `SELECT f.id, f.position, f.type, f.sequence, f.created_at, f.data, coalesce(r.position > :position, false) AS gap
   FROM (SELECT) one
   LEFT JOIN (
     SELECT f.event_id AS id, f.position, e.type, e.sequence, e.created_at, e.data
     FROM (
       SELECT team_id, position, event_id FROM event_feed
       WHERE team_id = :teamId AND position > :position ORDER BY position LIMIT :limit
     ) f
     CROSS JOIN LATERAL (SELECT type, sequence, created_at, data FROM events WHERE team_id = f.team_id AND id = f.event_id OFFSET 0) e
   ) f ON true
   LEFT JOIN feed_removals r ON r.team_id = :teamId
   ORDER BY f.position`,
).rows;

/**
 * Records in the transaction of a restore that each team's feed lost what came after the backup (specification section
 * 10.8). The next page tells its readers of a gap.
 */
export const recordLostEvents = transactionQuery(
  'events.add-removals',
  `INSERT INTO feed_removals (team_id, position) SELECT id, nextval('event_feed_position') FROM teams
   ON CONFLICT (team_id) DO UPDATE SET position = EXCLUDED.position, event_id = NULL`,
).run;
const withMore = query<{ teamIds: TeamId[]; positions: number[] }, { readonly team_id: TeamId }>(
  'events.teams-with-new-events',
  `SELECT t.team_id FROM unnest(:teamIds::uuid[], :positions::bigint[]) AS t (team_id, position)
   WHERE EXISTS (SELECT FROM event_feed f WHERE f.team_id = t.team_id AND f.position > t.position)`,
).rows;

/**
 * Publishes a batch. @returns the teams of its events with the number of events of each, and where the next batch begins
 */
export async function publishNext(
  trx: Transaction,
  limit: number,
  from: number,
): Promise<{
  readonly teams: readonly TeamId[];
  readonly events: number;
  readonly after: number | undefined;
}> {
  const rows = await publish(trx, { limit, from });
  return {
    teams: rows.flatMap((row) => row.team_id ?? []),
    events: rows.reduce((sum, row) => sum + (row.events ?? 0), 0),
    after: rows[0]?.after,
  };
}

/** Reads the events after a position, oldest first. The cost depends on the page size, not on the position. */
export async function readFeed(db: Queryable, from: FeedPosition, limit: number): Promise<FeedPage> {
  const rows = await page(db, { ...from, limit });
  return {
    gap: rows.some(({ gap }) => gap),
    events: rows.flatMap((row) =>
      row.id === null
        ? []
        : [{ id: row.id, position: row.position, body: envelopeOf({ ...row, team_id: from.teamId }) }],
    ),
  };
}

/** Filters feed positions to those with newer events. @returns the teams of these positions */
export async function filterTeamsWithNewEvents(
  db: Queryable,
  positions: readonly FeedPosition[],
): Promise<TeamId[]> {
  const rows = await withMore(db, {
    teamIds: positions.map(({ teamId }) => teamId),
    positions: positions.map(({ position }) => position),
  });
  return rows.map((row) => row.team_id);
}
