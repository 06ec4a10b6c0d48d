import { statement, type Transaction, transactionStatement } from '#server/database/statement.ts';
import type { MessageId, OptOutId, TeamId } from '#server/platform/ids/ids.ts';

/** The latest opt-out of a contact, which may have opted in again since. */
export interface OptOutRow {
  readonly team_id: TeamId;
  readonly contact: string;
  /** The id of the latest opt-out. */
  readonly id: OptOutId;
  /** Number of the contact's opt-outs and opt-ins so far. */
  readonly sequence: number;
  readonly opted_out_at: Date;
  /** When the contact opted in again; null while the contact is opted out. */
  readonly opted_in_at: Date | null;
  /** The inbound message with the keyword, and the number that received it; null for an opt-out by request. */
  readonly message_id: MessageId | null;
  readonly phone_number: string | null;
  /** `req_…` of the request; null for an opt-out by message. */
  readonly request_id: string | null;
}

const columns =
  'o.team_id, o.contact, o.id, o.sequence, o.opted_out_at, o.opted_in_at, o.message_id, o.phone_number, o.request_id';

// SQL condition: the contact is opted out. With IS NULL, a plan made for an empty table might use a partial index and
// read all opt-outs of the team. No index matches num_nulls, so the primary key is used.
const isStanding = 'num_nulls(o.opted_in_at) = 1';

// If the contact is opted out already, its row is locked and kept. So the second of two opt-outs finds the first.
const optOut = transactionStatement<
  [TeamId, string, OptOutId, Date, MessageId | null, string | null, string | null],
  OptOutRow
>(
  'opt-outs.opt-out',
  `INSERT INTO opt_outs AS o (team_id, contact, id, sequence, opted_out_at, message_id, phone_number, request_id)
   VALUES ($1, $2, $3, 1, $4, $5, $6, $7)
   ON CONFLICT (team_id, contact) DO UPDATE SET id = excluded.id, sequence = o.sequence + 1,
     opted_out_at = excluded.opted_out_at, opted_in_at = NULL, message_id = excluded.message_id,
     phone_number = excluded.phone_number, request_id = excluded.request_id
   WHERE o.opted_in_at IS NOT NULL
   RETURNING ${columns}`,
  { changes: 'opt_out', team: '$1', ids: 'id' },
);

/** Ends an opt-out. @returns undefined, without a change, if the contact was not opted out */
export const endOptOut = transactionStatement<[teamId: TeamId, contact: string, at: Date], OptOutRow>(
  'opt-outs.opt-in',
  `UPDATE opt_outs o SET opted_in_at = $3, sequence = o.sequence + 1
   WHERE o.team_id = $1 AND o.contact = $2 AND ${isStanding} RETURNING ${columns}`,
  { changes: 'opt_out', team: '$1', ids: 'id' },
).row;

/** Finds the opt-out of a contact; undefined if the contact is not opted out. */
export const findOptOut = statement<[teamId: TeamId, contact: string], OptOutRow>(
  'opt-outs.find',
  `SELECT ${columns} FROM opt_outs o WHERE o.team_id = $1 AND o.contact = $2 AND ${isStanding}`,
).row;

/** Lists contacts that are opted out, newest first. @param before only opt-outs with lower ids */
export const listOptOutRows = statement<[teamId: TeamId, before: string, limit: number], OptOutRow>(
  'opt-outs.list',
  `SELECT ${columns} FROM opt_outs o WHERE o.team_id = $1 AND o.id < $2 AND o.opted_in_at IS NULL
   ORDER BY o.id DESC LIMIT $3`,
).rows;

/**
 * The SQL condition that a contact of a team is opted out (decision 0027). OFFSET 0 makes the planner look each row up
 * by the primary key.
 */
export function sqlIsOptedOut(teamId: string, contact: string): string {
  return `EXISTS (SELECT FROM opt_outs o WHERE o.team_id = ${teamId} AND o.contact = ${contact} AND ${isStanding} OFFSET 0)`;
}

/** Inserts an opt-out. @returns undefined, without a change, if the contact was opted out already */
export function insertOptOut(
  trx: Transaction,
  row: Omit<OptOutRow, 'sequence' | 'opted_in_at'>,
): Promise<OptOutRow | undefined> {
  const { team_id, contact, id, opted_out_at, message_id, phone_number, request_id } = row;
  return optOut.row(trx, team_id, contact, id, opted_out_at, message_id, phone_number, request_id);
}
