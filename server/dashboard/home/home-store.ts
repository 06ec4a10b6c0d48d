import { type Queryable, statement } from '#server/database/statement.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';

/** Facts about a number that its list does not have. */
export interface NumberFactsRow {
  readonly id: NumberId;
  /** null where the number has no setup link any more; so are the next two. */
  readonly link_is_open: boolean | null;
  readonly link_has_device: boolean | null;
  readonly link_has_polled: boolean | null;
  readonly waiting_messages: number;
  readonly oldest_waiting_at: Date | null;
}

const numberFacts = statement<NumberFactsRow>(
  'home.number-facts',
  `SELECT n.id, l.link_is_open, l.link_has_device, l.link_has_polled, w.waiting_messages, w.oldest_waiting_at
   FROM numbers n
   LEFT JOIN LATERAL (
     SELECT l.ended_at IS NULL AND l.expires_at > $2 AS link_is_open, d.id IS NOT NULL AS link_has_device,
       s.device_id IS NOT NULL AS link_has_polled
     FROM setup_links l
     LEFT JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
     LEFT JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
     WHERE l.number_id = n.id ORDER BY l.generation DESC LIMIT 1
   ) l ON true
   CROSS JOIN LATERAL (
     SELECT count(*) AS waiting_messages, min(q.queued_at) AS oldest_waiting_at
     FROM (SELECT q.queued_at FROM send_queue q WHERE q.number_id = n.id ORDER BY q.number_id, q.seq LIMIT $3) q
   ) w
   WHERE n.team_id = $1 AND n.deleted_at IS NULL`,
);

/** Lists facts of the team's live numbers. @param waitingMax messages of a number that are counted */
export function listNumberFacts(
  db: Queryable,
  teamId: TeamId,
  now: Date,
  waitingMax: number,
): Promise<NumberFactsRow[]> {
  return numberFacts.rows(db, teamId, now, waitingMax);
}
