import type { NumberStatus } from '#contract/number.ts';
import type { HealthState } from '#contract/number-health.ts';
import { query } from '#server/database/query.ts';
import { anyText } from '#server/devices/inbound-tests.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { CauseFacts } from './likely-cause.ts';
import { sqlHealthOfNumber, sqlHealthSources, sqlHealthState } from './number-health-sql.ts';
import type { NumberKey } from './number-store.ts';
import { sqlReadyAndHeld } from './queue-sql.ts';

/** Facts about a number that decide its health, and the count of its waiting messages. */
export interface NumberFactsRow extends CauseFacts {
  readonly id: NumberId;
  readonly phone_number: string;
  readonly label: string;
  readonly device_name: string;
  readonly system_version: string;
  /** When the device last described itself differently at a takeover; null if it never did. */
  readonly device_changed_at: Date | null;
  readonly previous_name: string | null;
  readonly previous_system_version: string | null;
  readonly status: NumberStatus;
  readonly created_at: Date;
  readonly verified_at: Date | null;
  /** The latest health change that was reported; null if there was none. */
  readonly reported_state: 'online' | 'offline' | null;
  readonly reported_at: Date | null;
  readonly waiting_messages: number;
  readonly oldest_waiting_at: Date | null;
  /** Whether any phone of the number has passed on a text. */
  readonly has_received: boolean;
}

/**
 * Lists the facts of a team's numbers; of all if `numberIds` is null. `waitingMax` is the upper bound on the counted
 * messages of a number.
 */
export const listNumberFacts = query<
  { teamId: TeamId; now: Date; numberIds: readonly NumberId[] | null; waitingMax: number },
  NumberFactsRow
>(
  'numbers.facts',
  `SELECT n.id, n.phone_number, n.label, n.status, n.is_simulated, coalesce(d.name, '') AS device_name, coalesce(d.system_version, '') AS system_version,
     d.changed_at AS device_changed_at, d.previous_name, d.previous_system_version, n.created_at, n.verified_at, s.last_seen_at,
     ${sqlHealthState(':now')} AS state, h.state AS reported_state, h.since AS reported_at,
     coalesce(s.handed_out_at >= s.last_seen_at, false) AS has_taken_message, coalesce(s.left_at >= s.last_seen_at, false) AS has_left,
     l.link_is_open, l.link_has_device, l.link_has_polled, w.waiting_messages, w.oldest_waiting_at,
     EXISTS (SELECT FROM devices e WHERE e.number_id = n.id AND '${anyText}' = ANY (e.received_tests)) AS has_received
   FROM numbers n
   ${sqlHealthSources()}
   LEFT JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id
   LEFT JOIN LATERAL (
     SELECT l.ended_at IS NULL AND l.expires_at > :now AS link_is_open, c.id IS NOT NULL AS link_has_device,
       o.device_id IS NOT NULL AS link_has_polled
     FROM setup_links l
     LEFT JOIN devices c ON c.team_id = l.team_id AND c.setup_link_id = l.id
     LEFT JOIN device_sessions o ON o.number_id = l.number_id AND o.device_id = c.id
     WHERE l.number_id = n.id ORDER BY l.generation DESC LIMIT 1
   ) l ON true
   CROSS JOIN LATERAL (
     SELECT least(count(*), :waitingMax) AS waiting_messages, min(q.queued_at) AS oldest_waiting_at
     FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT q.queued_at FROM send_queue q WHERE q.number_id = n.id AND q.is_ready = h.is_ready ORDER BY q.number_id, q.seq LIMIT :waitingMax
     ) q
   ) w
   WHERE n.team_id = :teamId AND n.deleted_at IS NULL AND (:numberIds::uuid[] IS NULL OR n.id = ANY (:numberIds::uuid[]))`,
).rows;

export const findHealth = query<NumberKey & { now: Date }, { health: HealthState }>(
  'numbers.find-health',
  `SELECT ${sqlHealthOfNumber('n', ':now')} AS health FROM numbers n WHERE n.team_id = :teamId AND n.id = :numberId`,
).row;
