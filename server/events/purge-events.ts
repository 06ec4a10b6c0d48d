import {
  type History,
  lockOldRows,
  nextIdOf,
  type OldTeamRow,
  removeOldRows,
} from '#server/database/purge-walk.ts';
import { sqlDeliveryIdRange } from './delivery-id.ts';

// Keeps the newest position that was removed from each team's feed, for readers that come later.
const sqlKeepNewest = `
  INSERT INTO feed_removals (team_id, position, event_id)
  SELECT DISTINCT ON (team_id) team_id, position, event_id FROM unlisted ORDER BY team_id, position DESC
  ON CONFLICT (team_id) DO UPDATE SET position = EXCLUDED.position, event_id = EXCLUDED.event_id
  WHERE feed_removals.position < EXCLUDED.position`;
const sqlUnlist = `
  WITH unlisted AS (
    DELETE FROM event_feed f USING unnest(:teamIds::uuid[], :ids::uuid[]) AS i (team_id, id)
    WHERE f.team_id = i.team_id AND f.event_id = i.id
    RETURNING f.team_id, f.position, f.event_id
  ), newest AS (${sqlKeepNewest})`;

/** The history of events. Events without a position or with a delivery stay. */
export const eventHistory: History<OldTeamRow> = {
  name: 'events',
  findNext: nextIdOf('events'),
  lock: lockOldRows(
    'events',
    `EXISTS (SELECT FROM event_feed f WHERE f.team_id = h.team_id AND f.event_id = h.id OFFSET 0)
     AND NOT EXISTS (
       SELECT FROM deliveries d WHERE d.team_id = h.team_id AND ${sqlDeliveryIdRange('d.id', 'h.id')} OFFSET 0)`,
  ),
  remove: removeOldRows('events', sqlUnlist),
};
