import type { NumberStatus, UnconfirmedPolicy } from '#contract/number.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import { firstIdAt, type NumberId, type TeamId } from '#server/platform/ids/ids.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import type { OwnPacing } from './pacing-policy.ts';

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
        AND m.id >= $2 AND m.number_id = n.id AND m.direction = 'outbound')
     + (SELECT count(*) FROM messages m WHERE m.team_id = n.team_id AND m.to_handle = n.phone_number
        AND m.id >= $2 AND m.number_id = n.id AND m.direction = 'inbound') AS messages_today
   FROM numbers n
   LEFT JOIN device_sessions s ON s.team_id = n.team_id AND s.number_id = n.id
   LEFT JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id
   WHERE n.team_id = $1 AND n.deleted_at IS NULL`;

export const listNumbers = statement<[teamId: TeamId, todayFirstId: string], NumberListRow>(
  'numbers.list',
  `${listed} ORDER BY n.id`,
).rows;
const findListed = statement<[TeamId, string, NumberId], NumberListRow>(
  'numbers.find-listed',
  `${listed} AND n.id = $3`,
);

export const findLiveNumberByPhone = statement<[teamId: TeamId, phoneNumber: string], NumberRow>(
  'numbers.find-by-phone',
  `SELECT ${columns} FROM numbers WHERE team_id = $1 AND phone_number = $2 AND deleted_at IS NULL`,
).row;

/** The number that is verified for a phone number, in any team. */
export const findVerifiedNumberByPhone = statement<[phoneNumber: string], NumberRow>(
  'numbers.find-verified-anywhere',
  `SELECT ${columns} FROM numbers WHERE phone_number = $1 AND verified_at IS NOT NULL AND deleted_at IS NULL`,
).row;

export const findSimulatedNumber = statement<[teamId: TeamId], NumberRow>(
  'numbers.find-simulated',
  `SELECT ${columns} FROM numbers WHERE team_id = $1 AND is_simulated AND deleted_at IS NULL`,
).row;
// Phone numbers that the team can't have: its own, verified or not, and those that any team has verified.
const findTaken = statement<[TeamId, readonly string[]], { phone_number: string }>(
  'numbers.find-taken',
  `SELECT phone_number FROM numbers WHERE phone_number = ANY($2::text[]) AND verified_at IS NOT NULL AND deleted_at IS NULL
   UNION ALL
   SELECT phone_number FROM numbers WHERE team_id = $1 AND phone_number = ANY($2::text[]) AND deleted_at IS NULL`,
);
const countLive = statement<[TeamId], { numbers: number }>(
  'numbers.count-live',
  'SELECT count(*) AS numbers FROM numbers WHERE team_id = $1 AND deleted_at IS NULL AND NOT is_simulated',
);
const insert = transactionStatement<[TeamId, NumberId, string, Date, Date | null, string, boolean]>(
  'numbers.insert',
  `INSERT INTO numbers (team_id, id, phone_number, created_at, pending_until, label, is_simulated, verified_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $5::timestamptz IS NULL THEN $4::timestamptz END) RETURNING ${columns}`,
  { changes: 'number', team: '$1', ids: '$2' },
);

export const extendPendingNumber = transactionStatement<[teamId: TeamId, id: NumberId, until: Date]>(
  'numbers.extend-pending',
  'UPDATE numbers SET pending_until = $3 WHERE team_id = $1 AND id = $2 AND verified_at IS NULL',
  { changes: 'number', team: '$1', ids: '$2' },
).run;

/** Locks a number: waits for running hand-outs and session starts of the number, and blocks later ones. */
export const lockNumber = transactionStatement<[teamId: TeamId, numberId: NumberId], NumberRow>(
  'numbers.lock',
  `SELECT ${columns} FROM numbers WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE`,
).row;

export const findNumber = statement<[teamId: TeamId, numberId: NumberId], NumberRow>(
  'numbers.find',
  `SELECT ${columns} FROM numbers WHERE team_id = $1 AND id = $2`,
).row;
const update = statement<
  [TeamId, NumberId, string | null, NumberStatus | null, UnconfirmedPolicy | null, boolean, OwnPacing | null],
  NumberRow
>(
  'numbers.update',
  `UPDATE numbers SET label = coalesce($3, label), status = coalesce($4, status),
     on_unconfirmed = coalesce($5, on_unconfirmed), pacing = CASE WHEN $6 THEN $7 ELSE pacing END
   WHERE team_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${columns}`,
  { changes: 'number', team: '$1', ids: '$2' },
);

/** Marks a number as verified. @throws a unique violation if another number was verified for this phone number first */
export const markVerified = transactionStatement<[teamId: TeamId, numberId: NumberId, at: Date], NumberRow>(
  'numbers.verify',
  `UPDATE numbers SET verified_at = $3, pending_until = NULL
   WHERE team_id = $1 AND id = $2 AND verified_at IS NULL AND deleted_at IS NULL RETURNING ${columns}`,
  { changes: 'number', team: '$1', ids: '$2' },
).row;

/** Marks a number as deleted. @returns false if the number was deleted already */
export const markDeleted = transactionStatement<[teamId: TeamId, numberId: NumberId, at: Date]>(
  'numbers.remove',
  'UPDATE numbers SET deleted_at = $3 WHERE team_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING id',
  { changes: 'number', team: '$1', ids: '$2' },
).hasRow;

/** Deletes numbers that were not verified within 7 days. */
export const deleteOverduePending = statement<[at: Date], Pick<NumberRow, 'team_id' | 'id'>>(
  'numbers.remove-overdue',
  // Locks numbers in the order of their ids, as sends do. A number that was verified meanwhile is skipped.
  `WITH overdue AS MATERIALIZED (
     SELECT team_id, id FROM numbers
     WHERE verified_at IS NULL AND deleted_at IS NULL AND pending_until <= $1 ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE numbers n SET deleted_at = $1 FROM overdue o WHERE n.team_id = o.team_id AND n.id = o.id
   RETURNING n.team_id, n.id`,
  { changes: 'number', team: 'team_id', ids: 'id' },
).count;

/** The first id of today in UTC, by the service's clock: the lower bound for messages_today. */
export function firstIdOfDay(clock: Clock): string {
  return firstIdAt(new Date(clock.nowMs()).setUTCHours(0, 0, 0, 0));
}

export function findListedNumber(
  db: Queryable,
  teamId: TeamId,
  numberId: NumberId,
  todayFirstId: string,
): Promise<NumberListRow | undefined> {
  return findListed.row(db, teamId, todayFirstId, numberId);
}

/** Filters phone numbers to those that the team can't have: its own, and those that any team has verified. */
export async function findTakenPhoneNumbers(
  db: Queryable,
  teamId: TeamId,
  phoneNumbers: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await findTaken.rows(db, teamId, phoneNumbers);
  return new Set(rows.map((row) => row.phone_number));
}

/** Counts the team's numbers against its plan: pending numbers count, simulated ones do not. */
export async function countNumbers(db: Queryable, teamId: TeamId): Promise<number> {
  return (await countLive.row(db, teamId))?.numbers ?? 0;
}

export interface NewNumber {
  readonly teamId: TeamId;
  readonly id: NumberId;
  readonly phoneNumber: string;
  readonly createdAt: Date;
  /** null for a number that is verified from the start. */
  readonly pendingUntil: Date | null;
  readonly label?: string;
  readonly isSimulated?: boolean;
}

export async function insertNumber(trx: Transaction, number: NewNumber): Promise<void> {
  await insert.run(
    trx,
    number.teamId,
    number.id,
    number.phoneNumber,
    number.createdAt,
    number.pendingUntil,
    number.label ?? '',
    number.isSimulated ?? false,
  );
}

export interface NumberChange {
  readonly label: string | undefined;
  readonly status: NumberStatus | undefined;
  readonly onUnconfirmed: UnconfirmedPolicy | undefined;
  /** null clears the number's own pacing. */
  readonly pacing: OwnPacing | null | undefined;
}

/** Changes the given fields of a number; undefined ones stay as they are. */
export function changeNumber(
  db: Queryable,
  teamId: TeamId,
  numberId: NumberId,
  change: NumberChange,
): Promise<NumberRow | undefined> {
  return update.row(
    db,
    teamId,
    numberId,
    change.label ?? null,
    change.status ?? null,
    change.onUnconfirmed ?? null,
    change.pacing !== undefined,
    change.pacing ?? null,
  );
}

/** Locks all numbers of teams, deleted ones included, against every other use of them. */
export const lockNumbersOfTeams = transactionStatement<
  [teamIds: readonly TeamId[]],
  Pick<NumberRow, 'team_id' | 'id'>
>(
  'numbers.lock-of-teams',
  'SELECT team_id, id FROM numbers WHERE team_id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE',
).rows;
