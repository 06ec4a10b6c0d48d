import type { NumberStatus, UnconfirmedPolicy } from '#contract/number.ts';
import type { HealthState } from '#contract/number-health.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { NumberKey } from '#server/devices/device-store.ts';
import { anyText } from '#server/devices/inbound-tests.ts';
import { firstIdAt, type NumberId, type TeamId } from '#server/platform/ids.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { type CauseFacts, sqlHealthOfNumber, sqlHealthSources, sqlHealthState } from './number-health.ts';
import type { OwnPacing } from './pacing.ts';

/**
 * SQL: both values of `send_queue.is_ready`. Through LATERAL, a query reads each part of a queue in the order of its
 * index.
 */
export const sqlReadyAndHeld = '(VALUES (true), (false)) h (is_ready)';

export interface NumberRow {
  readonly team_id: TeamId;
  readonly id: NumberId;
  readonly phone_number: string;
  readonly label: string;
  readonly status: NumberStatus;
  readonly verified_at: Date | null;
  readonly on_unconfirmed: UnconfirmedPolicy;
  /** The number's own pacing settings; null for none. */
  readonly pacing: OwnPacing | null;
  /** True if the number is simulated: the server runs its phone. */
  readonly is_simulated: boolean;
  readonly created_at: Date;
  readonly deleted_at: Date | null;
}

/** A number with its device and today's count of messages. */
export interface NumberListRow extends NumberRow {
  readonly device_name: string | null;
  /** Names of the passed inbound tests; null before the first poll. */
  readonly received_tests: readonly string[] | null;
  readonly last_seen_at: Date | null;
  readonly messages_today: number;
}

const columns =
  'team_id, id, phone_number, label, status, verified_at, on_unconfirmed, pacing, is_simulated, created_at, deleted_at';

const listed = `SELECT ${columns
  .split(', ')
  .map((column) => `n.${column}`)
  .join(', ')}, d.name AS device_name, d.received_tests, s.last_seen_at,
     (SELECT count(*) FROM messages m WHERE m.team_id = n.team_id AND m.from_handle = n.phone_number
        AND m.id >= :todayFirstId AND m.number_id = n.id AND m.direction = 'outbound')
     + (SELECT count(*) FROM messages m WHERE m.team_id = n.team_id AND m.to_handle = n.phone_number
        AND m.id >= :todayFirstId AND m.number_id = n.id AND m.direction = 'inbound') AS messages_today
   FROM numbers n
   LEFT JOIN device_sessions s ON s.team_id = n.team_id AND s.number_id = n.id
   LEFT JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id
   WHERE n.team_id = :teamId AND n.deleted_at IS NULL`;

const ofKey = 'team_id = :teamId AND id = :numberId';
const changedByKey = { changes: 'number', team: ':teamId', ids: ':numberId' } as const;

export const listNumbers = query<{ teamId: TeamId; todayFirstId: string }, NumberListRow>(
  'numbers.list',
  `${listed} ORDER BY n.id`,
).rows;

export const findListedNumber = query<NumberKey & { todayFirstId: string }, NumberListRow>(
  'numbers.find-listed',
  `${listed} AND n.id = :numberId`,
).row;

export const findLiveNumberByPhone = query<{ teamId: TeamId; phoneNumber: string }, NumberRow>(
  'numbers.find-by-phone',
  `SELECT ${columns} FROM numbers WHERE team_id = :teamId AND phone_number = :phoneNumber AND deleted_at IS NULL`,
).row;

/** The number that is verified for a phone number, in any team. */
export const findVerifiedNumberByPhone = query<{ phoneNumber: string }, NumberRow>(
  'numbers.find-verified-anywhere',
  `SELECT ${columns} FROM numbers WHERE phone_number = :phoneNumber AND verified_at IS NOT NULL AND deleted_at IS NULL`,
).row;

export const findSimulatedNumber = query<{ teamId: TeamId }, NumberRow>(
  'numbers.find-simulated',
  `SELECT ${columns} FROM numbers WHERE team_id = :teamId AND is_simulated AND deleted_at IS NULL`,
).row;

/** Filters phone numbers to those that the team can't have: its own, and those that any team has verified. */
export const listTakenPhoneNumbers = query<
  { teamId: TeamId; phoneNumbers: readonly string[] },
  Pick<NumberRow, 'phone_number'>
>(
  'numbers.find-taken',
  `SELECT phone_number FROM numbers WHERE phone_number = ANY(:phoneNumbers::text[]) AND verified_at IS NOT NULL AND deleted_at IS NULL
   UNION ALL
   SELECT phone_number FROM numbers WHERE team_id = :teamId AND phone_number = ANY(:phoneNumbers::text[]) AND deleted_at IS NULL`,
).rows;

/** Counts the team's numbers against its plan: pending numbers count, simulated ones do not. */
export const countNumbers = query<{ teamId: TeamId }>(
  'numbers.count-live',
  'SELECT count(*) FROM numbers WHERE team_id = :teamId AND deleted_at IS NULL AND NOT is_simulated',
).number;

/** Inserts a number. `pendingUntil` is null for one that is verified from the start. */
export const insertNumber = transactionQuery<
  NumberKey & {
    phoneNumber: string;
    createdAt: Date;
    pendingUntil: Date | null;
    label: string;
    isSimulated: boolean;
  }
>(
  'numbers.insert',
  `INSERT INTO numbers (team_id, id, phone_number, created_at, pending_until, label, is_simulated, verified_at)
   VALUES (:teamId, :numberId, :phoneNumber, :createdAt, :pendingUntil, :label, :isSimulated,
     CASE WHEN :pendingUntil::timestamptz IS NULL THEN :createdAt::timestamptz END)`,
  changedByKey,
).run;

export const extendPendingNumber = transactionQuery<NumberKey & { until: Date }>(
  'numbers.extend-pending',
  `UPDATE numbers SET pending_until = :until WHERE ${ofKey} AND verified_at IS NULL`,
  changedByKey,
).run;

/** Locks a number: waits for running hand-outs and session starts of the number, and blocks later ones. */
export const lockNumber = transactionQuery<NumberKey, NumberRow>(
  'numbers.lock',
  `SELECT ${columns} FROM numbers WHERE ${ofKey} FOR NO KEY UPDATE`,
).row;

export const findNumber = query<NumberKey, NumberRow>(
  'numbers.find',
  `SELECT ${columns} FROM numbers WHERE ${ofKey}`,
).row;

/** Changes a number. A field that is null stays as it is; the pacing changes only with `setsPacing`. */
export const changeNumber = transactionQuery<
  NumberKey & {
    label: string | null;
    status: NumberStatus | null;
    onUnconfirmed: UnconfirmedPolicy | null;
    setsPacing: boolean;
    pacing: OwnPacing | null;
  },
  NumberRow
>(
  'numbers.update',
  `UPDATE numbers SET label = coalesce(:label, label), status = coalesce(:status, status),
     on_unconfirmed = coalesce(:onUnconfirmed, on_unconfirmed), pacing = CASE WHEN :setsPacing THEN :pacing ELSE pacing END
   WHERE ${ofKey} AND deleted_at IS NULL RETURNING ${columns}`,
  changedByKey,
).row;

/** Marks a number as verified. @throws a unique violation if another number was verified for this phone number first */
export const markVerified = transactionQuery<NumberKey & { at: Date }>(
  'numbers.verify',
  `UPDATE numbers SET verified_at = :at, pending_until = NULL WHERE ${ofKey} AND verified_at IS NULL AND deleted_at IS NULL`,
  changedByKey,
).run;

/** Marks a number as deleted. @returns false if the number was deleted already */
export const markDeleted = transactionQuery<NumberKey & { at: Date }>(
  'numbers.remove',
  `UPDATE numbers SET deleted_at = :at WHERE ${ofKey} AND deleted_at IS NULL`,
  changedByKey,
).hasRow;

/** Deletes numbers that were not verified within 7 days. */
export const deleteOverduePending = query<{ at: Date }, Pick<NumberRow, 'team_id' | 'id'>>(
  'numbers.remove-overdue',
  // Locks numbers in the order of their ids, as sends do. A number that was verified meanwhile stays.
  `WITH overdue AS MATERIALIZED (
     SELECT team_id, id FROM numbers
     WHERE verified_at IS NULL AND deleted_at IS NULL AND pending_until <= :at ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE numbers n SET deleted_at = :at FROM overdue o WHERE n.team_id = o.team_id AND n.id = o.id
   RETURNING n.team_id, n.id`,
  { changes: 'number', team: 'team_id', ids: 'id' },
).count;

/** Locks all numbers of teams, deleted ones included, against every other use of them. */
export const lockNumbersOfTeams = transactionQuery<
  { teamIds: readonly TeamId[] },
  Pick<NumberRow, 'team_id' | 'id'>
>(
  'numbers.lock-of-teams',
  `SELECT team_id, id FROM numbers WHERE team_id = ANY (:teamIds::uuid[]) ORDER BY id FOR UPDATE`,
).rows;

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

/** The first id of today in UTC, by the service's clock: the lower bound for messages_today. */
export function firstIdOfDay(clock: Clock): string {
  return firstIdAt(new Date(clock.nowMs()).setUTCHours(0, 0, 0, 0));
}
