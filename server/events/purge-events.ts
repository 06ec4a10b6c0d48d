import type { IdRange } from '#server/database/purge-walk.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import { sqlDeliveryIdRange } from './fan-out.ts';

// Keeps the newest position that was removed from each team's feed, for readers that come later.
const sqlKeepNewest = `
  INSERT INTO feed_removals (team_id, position, event_id)
  SELECT DISTINCT ON (team_id) team_id, position, event_id FROM unlisted ORDER BY team_id, position DESC
  ON CONFLICT (team_id) DO UPDATE SET position = EXCLUDED.position, event_id = EXCLUDED.event_id
  WHERE feed_removals.position < EXCLUDED.position`;
// Keeps events that have no position yet, a fan-out in progress or a pending delivery. Deletes the positions of the
// deleted events, too.
const purge = transactionStatement<[string, string, number]>(
  'events.purge',
  `WITH old AS MATERIALIZED (
     SELECT o.team_id, o.id FROM teams t
     CROSS JOIN LATERAL (
       SELECT e.team_id, e.id FROM events e
       WHERE e.team_id = t.id AND e.id >= $1 AND e.id < $2
         AND EXISTS (SELECT FROM event_feed f WHERE f.team_id = e.team_id AND f.event_id = e.id OFFSET 0)
         AND NOT EXISTS (SELECT FROM fan_outs o WHERE o.team_id = e.team_id AND o.event_id = e.id OFFSET 0)
         AND NOT EXISTS (
           SELECT FROM deliveries d
           WHERE d.team_id = e.team_id AND ${sqlDeliveryIdRange('d.id', 'e.id')} AND d.status = 'pending' OFFSET 0)
       ORDER BY e.team_id, e.id LIMIT $3
     ) o LIMIT $3
   ), unlisted AS (
     DELETE FROM event_feed f USING old WHERE f.team_id = old.team_id AND f.event_id = old.id
     RETURNING f.team_id, f.position, f.event_id
   ), newest AS (${sqlKeepNewest})
   DELETE FROM events e USING old WHERE e.team_id = old.team_id AND e.id = old.id AND e.id >= $1 AND e.id < $2 RETURNING e.id`,
);
const findUnfinished = statement<[string, string]>(
  'events.find-unfinished',
  `SELECT team_id FROM unpublished_events WHERE event_id >= $1 AND event_id < $2
   UNION ALL SELECT team_id FROM fan_outs WHERE event_id >= $1 AND event_id < $2 LIMIT 1`,
);
const unlist = transactionStatement<[string, string, number]>(
  'events.unlist',
  `WITH unlisted AS (
     DELETE FROM event_feed WHERE ctid = ANY (ARRAY(
       SELECT o.place FROM teams t
       CROSS JOIN LATERAL (
         SELECT f.ctid AS place FROM event_feed f WHERE f.team_id = t.id AND f.event_id >= $1 AND f.event_id < $2
         ORDER BY f.team_id, f.event_id LIMIT $3
       ) o LIMIT $3
     )) RETURNING team_id, position, event_id
   ), newest AS (${sqlKeepNewest})
   SELECT event_id FROM unlisted`,
);

/** Deletes events without pending deliveries (specification section 10.9). @returns the number of deleted events */
export async function purgeEvents(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  return purge.count(trx, range.from, range.to, limit);
}

/** Whether an event in the range has no position in the feed yet, or deliveries that are still to be written. */
export async function hasUnfinishedEvents(db: Queryable, range: IdRange): Promise<boolean> {
  return findUnfinished.hasRow(db, range.from, range.to);
}

/**
 * Deletes the positions of events before their month is dropped, so that no page of the feed finds a position without
 * its event.
 * @returns the number of deleted positions
 */
export async function removeFromFeed(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  return unlist.count(trx, range.from, range.to, limit);
}
