import { type Queryable, statement } from '#server/database/statement.ts';
import { firstIdAt, type MemberId, type MessageId, type TeamId } from '#server/platform/ids/ids.ts';
import { findMember } from '#server/teams/members/member-store.ts';
import type { ConversationKey } from './conversation-key.ts';

/** A member for whom unread messages are counted. */
export interface Reader {
  readonly memberId: MemberId;
  /** Messages up to this id count as read: those of before the member joined. */
  readonly joinedId: string;
}

const mark = statement<{ read_until: MessageId }>(
  'conversations.mark-read',
  `INSERT INTO conversation_reads AS r (team_id, member_id, phone_number, contact, read_until) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (team_id, member_id, phone_number, contact) DO UPDATE SET read_until = greatest(r.read_until, excluded.read_until)
   RETURNING read_until`,
);

/**
 * An SQL expression: the id up to which a reader has read, by one look-up. NULL without a reader.
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

/** @returns undefined where the member was removed meanwhile */
export async function findReader(
  db: Queryable,
  teamId: TeamId,
  memberId: MemberId,
): Promise<Reader | undefined> {
  const member = await findMember(db, teamId, memberId);
  return member && { memberId, joinedId: firstIdAt(member.created_at.getTime()) };
}

/** Moves the read mark of a member to a message, never back. @returns the mark */
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
