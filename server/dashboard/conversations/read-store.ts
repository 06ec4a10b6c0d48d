import { transactionQuery } from '#server/database/query.ts';
import { type Queryable, statement, transactionStatement } from '#server/database/statement.ts';
import { firstIdAt, type MemberId, type MessageId, type TeamId } from '#server/platform/ids/ids.ts';
import { findMember } from '#server/teams/members/member-store.ts';
import type { ConversationKey } from './conversation-key.ts';

export interface Reader {
  readonly memberId: MemberId;
  /** Messages up to this id count as read, because the member joined the team later. */
  readonly joinedId: string;
}

const mark = statement<[TeamId, MemberId, string, string, MessageId], { read_until: MessageId }>(
  'conversations.mark-read',
  `INSERT INTO conversation_reads AS r (team_id, member_id, phone_number, contact, read_until) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (team_id, member_id, phone_number, contact) DO UPDATE SET read_until = greatest(r.read_until, excluded.read_until)
   RETURNING read_until`,
);

/**
 * An SQL expression for the id up to which a reader has read; NULL without a reader.
 * @param reader SQL of the member's id and of the id at which they joined
 */
export function sqlReadUntil(
  reader: { readonly memberId: string; readonly joinedId: string },
  conversation: { readonly teamId: string; readonly phoneNumber: string; readonly contact: string },
): string {
  const { teamId, phoneNumber, contact } = conversation;
  return `greatest(${reader.joinedId}, (SELECT r.read_until FROM conversation_reads r WHERE r.team_id = ${teamId}
    AND r.member_id = ${reader.memberId} AND r.phone_number = ${phoneNumber} AND r.contact = ${contact}))`;
}

/** Finds the reader of a conversation. @returns undefined if the member was removed meanwhile */
export async function findReader(
  db: Queryable,
  teamId: TeamId,
  memberId: MemberId,
): Promise<Reader | undefined> {
  const member = await findMember(db, teamId, memberId);
  return member && { memberId, joinedId: firstIdAt(member.created_at.getTime()) };
}

/** Moves a member's read mark forward to a message; it never moves back. @returns the read mark */
export async function moveReadMark(
  db: Queryable,
  teamId: TeamId,
  memberId: MemberId,
  { phoneNumber, contact }: ConversationKey,
  messageId: MessageId,
): Promise<MessageId> {
  const row = await mark.row(db, teamId, memberId, phoneNumber, contact, messageId);
  return row?.read_until ?? messageId;
}

/**
 * Deletes the read marks of conversations that are gone.
 * @param before only marks at messages with smaller ids
 * @returns the number deleted
 */
export const purgeReadMarks = transactionQuery<{ before: string; limit: number }>(
  'conversations.purge-reads',
  // The rows are read member by member along the primary key.
  `DELETE FROM conversation_reads WHERE ctid = ANY (ARRAY(
     SELECT o.place FROM members m
     CROSS JOIN LATERAL (
       SELECT r.ctid AS place FROM conversation_reads r
       WHERE r.team_id = m.team_id AND r.member_id = m.id AND r.read_until < :before
         AND NOT EXISTS (
           SELECT FROM numbers n JOIN conversations c ON c.number_id = n.id AND c.contact = r.contact
           WHERE n.team_id = r.team_id AND n.phone_number = r.phone_number OFFSET 0)
       ORDER BY r.team_id, r.member_id, r.phone_number, r.contact LIMIT :limit
     ) o LIMIT :limit
   ))`,
).count;

/** Deletes a contact's read marks that stand at the message `until` or before it. */
export const eraseReadMarks = transactionStatement<[teamId: TeamId, contact: string, until: MessageId]>(
  'conversations.erase-reads',
  `DELETE FROM conversation_reads r USING members m, (SELECT DISTINCT phone_number FROM numbers WHERE team_id = $1) n
   WHERE m.team_id = $1 AND r.team_id = m.team_id AND r.member_id = m.id AND r.phone_number = n.phone_number AND r.contact = $2
     AND r.read_until <= $3 RETURNING r.contact`,
).run;
