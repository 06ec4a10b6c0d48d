import { query, transactionQuery } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import { firstIdAt, type MemberId, type MessageId, type TeamId } from '#server/platform/ids/ids.ts';
import { findMember } from '#server/teams/members/member-store.ts';
import type { ConversationKey } from './conversation-key.ts';

export interface Reader {
  readonly memberId: MemberId;
  /** Messages up to this id count as read, because the member joined the team later. */
  readonly joinedId: string;
}

/** Moves a member's read mark forward to a message; it never moves back. @returns the row with the read mark */
export const moveReadMark = query<
  ConversationKey & { teamId: TeamId; memberId: MemberId; messageId: MessageId },
  { read_until: MessageId }
>(
  'conversations.mark-read',
  `INSERT INTO conversation_reads AS r (team_id, member_id, phone_number, contact, read_until)
   VALUES (:teamId, :memberId, :phoneNumber, :contact, :messageId)
   ON CONFLICT (team_id, member_id, phone_number, contact) DO UPDATE SET read_until = greatest(r.read_until, excluded.read_until)
   RETURNING read_until`,
).one;

/** SQL of the id up to which the reader `:memberId`, who joined at `:joinedId`, has read a conversation. */
export function sqlReadUntil(phoneNumber: string, contact: string): string {
  return `greatest(:joinedId::uuid, (SELECT r.read_until FROM conversation_reads r WHERE r.team_id = :teamId
    AND r.member_id = :memberId::uuid AND r.phone_number = ${phoneNumber} AND r.contact = ${contact}))`;
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

/** Deletes a contact's read marks that stand at the message `until_id` or before it. */
export const eraseReadMarks = transactionQuery<{ team_id: TeamId; contact: string; until_id: MessageId }>(
  'conversations.erase-reads',
  `DELETE FROM conversation_reads r USING members m, (SELECT DISTINCT phone_number FROM numbers WHERE team_id = :team_id) n
   WHERE m.team_id = :team_id AND r.team_id = m.team_id AND r.member_id = m.id AND r.phone_number = n.phone_number AND r.contact = :contact
     AND r.read_until <= :until_id`,
).run;
