import { type IdRange, nextIdOf } from '#server/database/purge-walk.ts';
import { type Transaction, transactionStatement } from '#server/database/statement.ts';
import { sqlDeliveryIdRange } from './fan-out.ts';

// Keeps the newest position that was removed from each team's feed, for readers that come later.
const sqlKeepNewest = `
  INSERT INTO feed_removals (team_id, position, event_id)
  SELECT DISTINCT ON (team_id) team_id, position, event_id FROM unlisted ORDER BY team_id, position DESC
  ON CONFLICT (team_id) DO UPDATE SET position = EXCLUDED.position, event_id = EXCLUDED.event_id
  WHERE feed_removals.position < EXCLUDED.position`;
// Keeps events that are locked, have no position yet, a fan-out in progress or a delivery. Deletes the positions of the
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
           WHERE d.team_id = e.team_id AND ${sqlDeliveryIdRange('d.id', 'e.id')} OFFSET 0)
       ORDER BY e.team_id, e.id LIMIT $3 FOR UPDATE SKIP LOCKED
     ) o LIMIT $3
   ), unlisted AS (
     DELETE FROM event_feed f USING old WHERE f.team_id = old.team_id AND f.event_id = old.id
     RETURNING f.team_id, f.position, f.event_id
   ), newest AS (${sqlKeepNewest})
   DELETE FROM events e USING old WHERE e.team_id = old.team_id AND e.id = old.id AND e.id >= $1 AND e.id < $2 RETURNING e.id`,
);

export const findNextEvent = nextIdOf('events');

/** Deletes events without deliveries (specification section 10.9). @returns the number of deleted events */
export async function purgeEvents(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  return purge.count(trx, range.from, range.to, limit);
}
