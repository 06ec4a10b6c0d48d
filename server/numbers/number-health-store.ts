import { statement, type Transaction, transactionStatement } from '#server/database/statement.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { healthMailDelayMs, offlineMailIntervalMs, queuedCountMax } from './limits.ts';
import { sqlHealthSources, sqlHealthState } from './number-health-sql.ts';

/** A number that went offline or came back, with the fields of its event. */
export interface HealthChangeRow {
  readonly id: NumberId;
  readonly phone_number: string;
  readonly label: string;
  readonly state: 'online' | 'offline';
  readonly sequence: number;
  readonly last_seen_at: Date;
  readonly queued: number;
}

// Verified numbers whose health differs from the reported one. A number without a session never had a phone, so it
// can't be silent.
const watched = `FROM numbers n ${sqlHealthSources()}
   WHERE n.verified_at IS NOT NULL AND n.deleted_at IS NULL AND s.last_seen_at IS NOT NULL
     AND (${sqlHealthState('$1')} = 'offline') <> (coalesce(h.state, 'online') = 'offline')`;

/** Lists teams with a number that went offline or came back since the last report; at most `limit`. */
export const listTeamsWithHealthChanges = statement<[now: Date, limit: number], { team_id: TeamId }>(
  'numbers.list-teams-with-health-changes',
  `SELECT DISTINCT n.team_id ${watched} LIMIT $2`,
).rows;

// The row lock orders a health change with the deletion of its number. A second process finds the new state recorded,
// and reports nothing.
const recordChanges = transactionStatement<[Date, TeamId], HealthChangeRow>(
  'numbers.record-health-changes',
  `WITH found AS MATERIALIZED (
     SELECT n.team_id, n.id, s.last_seen_at, CASE WHEN h.state = 'offline' THEN 'online' ELSE 'offline' END AS state
     ${watched} AND n.team_id = $2 ORDER BY n.id FOR SHARE OF n
   ), changed AS (
     INSERT INTO number_health AS h (number_id, team_id, state, since, last_seen_at, sequence)
     SELECT id, team_id, state, $1, last_seen_at, 1 FROM found
     ON CONFLICT (number_id) DO UPDATE SET state = excluded.state, since = excluded.since,
       last_seen_at = excluded.last_seen_at, sequence = h.sequence + 1
     WHERE h.state <> excluded.state
     RETURNING h.number_id, h.state, h.sequence, h.last_seen_at
   )
   SELECT n.id, n.phone_number, n.label, c.state, c.sequence, c.last_seen_at,
     (SELECT count(*) FROM (SELECT FROM send_queue q WHERE q.number_id = n.id LIMIT ${queuedCountMax}) q) AS queued
   FROM changed c JOIN numbers n ON n.id = c.number_id AND n.team_id = $2 ORDER BY n.id`,
  { changes: 'number', team: '$2', ids: 'id' },
);

// Numbers whose health change is due in a mail. A paused number may be silent on purpose, and a simulated number has no
// iPhone: both are skipped. A number with an unreported change waits for its report.
const unmailed = `FROM number_health h
   JOIN numbers n ON n.team_id = h.team_id AND n.id = h.number_id
   JOIN device_sessions s ON s.number_id = h.number_id
   JOIN poll_service p ON p.id
   WHERE h.state <> h.mailed_state AND n.deleted_at IS NULL AND NOT n.is_simulated
     AND (${sqlHealthState('$1')} = 'offline') = (h.state = 'offline')
     AND (h.state = 'online'
       OR n.status = 'active' AND coalesce(h.offline_mailed_at <= $1::timestamptz - interval '${offlineMailIntervalMs} ms', true))`;
const isDue = `h.since <= $1::timestamptz - interval '${healthMailDelayMs} ms'`;

/** Lists teams whose owners and admins have to get a mail about numbers; at most `limit`. */
export const listTeamsToMail = statement<[now: Date, limit: number], { team_id: TeamId }>(
  'numbers.list-teams-to-mail-health',
  `SELECT DISTINCT h.team_id ${unmailed} AND ${isDue} LIMIT $2`,
).rows;
const markMailed = transactionStatement<[Date, TeamId], { number_id: NumberId; state: 'online' | 'offline' }>(
  'numbers.mark-health-mailed',
  `WITH unmailed AS MATERIALIZED (
     SELECT h.number_id, ${isDue} AS is_due ${unmailed} AND h.team_id = $2 ORDER BY h.number_id FOR UPDATE OF h
   )
   UPDATE number_health h SET mailed_state = h.state,
     offline_mailed_at = CASE WHEN h.state = 'offline' THEN $1 ELSE h.offline_mailed_at END
   FROM unmailed u WHERE h.number_id = u.number_id AND (SELECT bool_or(is_due) FROM unmailed)
   RETURNING h.number_id, h.state`,
);

/** Records the health changes of a team's numbers. Each change is returned to only one caller. */
export function recordHealthChanges(trx: Transaction, teamId: TeamId, now: Date): Promise<HealthChangeRow[]> {
  return recordChanges.rows(trx, now, teamId);
}

/** Marks the numbers that one mail names with the state it reports. @returns these numbers; none if no mail is due */
export function markHealthMailed(
  trx: Transaction,
  teamId: TeamId,
  now: Date,
): Promise<{ readonly number_id: NumberId; readonly state: 'online' | 'offline' }[]> {
  return markMailed.rows(trx, now, teamId);
}
