import { type Conversation, conversationCountMax, type PublicConversation } from '#contract/conversation.ts';
import type { MessageSender } from '#contract/message.ts';
import type { NumberStatus } from '#contract/number.ts';
import { type Queryable, query, transactionQuery } from '#server/database/query.ts';
import { type MessageRow, messageView, sqlMessageColumns } from '#server/messages/message.ts';
import { findSenders } from '#server/messages/senders.ts';
import { sqlReadyAndHeld } from '#server/numbers/number-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
import {
  type ContactId,
  type ConversationId,
  firstIdAt,
  idMax,
  type MemberId,
  type MessageId,
  type NumberId,
  publicId,
  type TeamId,
} from '#server/platform/ids.ts';
import { findMember } from '#server/teams/members/members.ts';

/** Connections of one phone number whose conversations are read; older ones are left out. */
const numbersOfPhoneMax = 20;

/** Conversation as people see it: a phone number of the team, over all its connections, and a contact. */
export interface ConversationKey {
  /** E.164 */
  readonly phoneNumber: string;
  /** The normalized handle. */
  readonly contact: string;
}

export function conversationOf(
  message: Pick<MessageRow, 'direction' | 'from_handle' | 'to_handle'>,
): ConversationKey {
  const { direction, from_handle: from, to_handle: to } = message;
  return direction === 'inbound'
    ? { phoneNumber: to, contact: contactOf(from) }
    : { phoneNumber: from, contact: contactOf(to) };
}

/** A text that identifies a conversation, as a key of maps: no phone number has a space. */
export function textOfKey({ phoneNumber, contact }: ConversationKey): string {
  return `${phoneNumber} ${contact}`;
}

/** SQL of the numbers that the team `:teamId` has connected for a phone number, latest first, including deleted ones. */
export function sqlNumbersOfPhone(phoneNumber: string): string {
  return `SELECT s.id, s.label, s.status, s.verified_at, s.deleted_at, s.is_simulated
    FROM numbers s WHERE s.team_id = :teamId AND s.phone_number = ${phoneNumber}
    ORDER BY s.id DESC LIMIT ${numbersOfPhoneMax}`;
}

/** SQL of the rows of one conversation: one per connected number of its phone number. */
export function sqlRowsOfConversation(phoneNumber: string, contact: string): string {
  return `SELECT o.last_activity_at, o.last_message_id, o.last_inbound_id, o.is_waiting, o.handles
    FROM (${sqlNumbersOfPhone(phoneNumber)}) s
    CROSS JOIN LATERAL (
      SELECT r.last_activity_at, r.last_message_id, r.last_inbound_id, r.is_waiting, r.handles
      FROM conversations r WHERE r.number_id = s.id AND r.contact = ${contact} OFFSET 0
    ) o`;
}

/** A member that reads conversations, whose unread messages are counted. */
export interface Reader {
  readonly memberId: MemberId;
  /** Messages up to this id count as read, because the member joined the team later. */
  readonly joinedId: string;
}

/** A key as a reader: it has no unread messages. */
export const keyReader: Reader = { memberId: idMax as MemberId, joinedId: idMax };

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
  const member = await findMember(db, { teamId, memberId });
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
  `DELETE FROM conversation_reads WHERE team_id = :team_id AND member_id = ANY(ARRAY(SELECT id FROM members WHERE team_id = :team_id))
     AND phone_number = ANY(ARRAY(SELECT phone_number FROM numbers WHERE team_id = :team_id)) AND contact = :contact
     AND read_until <= :until_id`,
).run;

/** Upper bound on the messages that a count of unread messages reads: some may be to other numbers of the team. */
const unreadExaminedMax = 300;

/** Columns of a conversation, and of the latest number that the team connected for its phone number. */
interface FactsOfRow {
  readonly phone_number: string;
  readonly contact: string;
  readonly live_number_id: NumberId;
  readonly label: string;
  readonly number_status: NumberStatus;
  readonly is_verified: boolean;
  readonly is_removed: boolean;
  readonly is_simulated: boolean;
  /** The time of the latest hand-out or inbound message; null before the first one. */
  readonly last_activity_at: Date | null;
  /** The contact's other spellings. */
  readonly handles: readonly string[];
  readonly conversation_id: ConversationId;
  readonly is_waiting: boolean;
  /** The contact with this handle; null if none has it. */
  readonly contact_id: ContactId | null;
  readonly contact_name: string | null;
  readonly queued_count: number;
  /** When the newest queued message was queued; null if none is queued. */
  readonly queued_at: Date | null;
  readonly opted_out: boolean;
  /** The reader's read mark; null if there is none. */
  readonly read_until: MessageId | null;
  /** The reader's number of unread messages. */
  readonly unread_count: number;
}

type WithoutMessage = { readonly [Column in keyof MessageRow]: null };

/** A conversation with its newest message, unless that was purged. */
export type FactsRow = FactsOfRow & (MessageRow | WithoutMessage);

/**
 * Reads each conversation through LATERAL, row by row along one index. The condition on unread messages compares rows
 * of (sender, id), so the planner uses the index on the sender.
 */
const facts = query<Reader & { teamId: TeamId; phoneNumbers: string[]; contacts: string[] }, FactsRow>(
  'conversations.facts',
  `SELECT i.phone_number, i.contact, n.id AS live_number_id, n.label, n.status AS number_status, n.verified_at IS NOT NULL AS is_verified,
     n.deleted_at IS NOT NULL AS is_removed, n.is_simulated, c.last_activity_at, c.handles, q.queued_count, q.queued_at,
     conversation_id(:teamId, i.phone_number, i.contact) AS conversation_id, coalesce(c.is_waiting, false) AS is_waiting, p.id AS contact_id, p.name AS contact_name,
     ${sqlIsOptedOut(':teamId', 'contact', 'i.contact')} AS opted_out,
     (SELECT k.read_until FROM conversation_reads k WHERE k.team_id = :teamId AND k.member_id = :memberId AND k.phone_number = i.phone_number AND k.contact = i.contact)
       AS read_until,
     greatest(u.unread_count, (c.last_inbound_id > r.read_until)::int) AS unread_count,
     ${sqlMessageColumns('m')}
   FROM unnest(:phoneNumbers::text[], :contacts::text[]) WITH ORDINALITY AS i (phone_number, contact, n)
   CROSS JOIN LATERAL (SELECT l.* FROM (${sqlNumbersOfPhone('i.phone_number')}) l LIMIT 1) n
   CROSS JOIN LATERAL (
     SELECT max(o.last_activity_at) AS last_activity_at, bool_or(o.is_waiting) AS is_waiting, (array_agg(o.last_message_id ORDER BY o.last_message_id DESC))[1] AS last_message_id,
       (array_agg(o.last_inbound_id ORDER BY o.last_inbound_id DESC NULLS LAST))[1] AS last_inbound_id,
       ARRAY(SELECT DISTINCT h.handle FROM (${sqlRowsOfConversation('i.phone_number', 'i.contact')}) a CROSS JOIN unnest(a.handles) AS h (handle)) AS handles
     FROM (${sqlRowsOfConversation('i.phone_number', 'i.contact')}) o
   ) c
   CROSS JOIN LATERAL (SELECT ${sqlReadUntil('i.phone_number', 'i.contact')} AS read_until OFFSET 0) r
   CROSS JOIN LATERAL (
     SELECT least(count(*), ${conversationCountMax}) AS queued_count, (array_agg(q.message_id ORDER BY q.message_id DESC))[1] AS message_id, max(q.queued_at) AS queued_at
     FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT q.message_id, q.queued_at FROM send_queue q WHERE q.number_id = n.id AND q.to_handle = i.contact AND q.is_ready = h.is_ready
       ORDER BY q.number_id DESC, q.to_handle DESC, q.seq DESC LIMIT ${conversationCountMax}
     ) q
   ) q
   CROSS JOIN LATERAL (
     SELECT count(*) AS unread_count FROM (
       SELECT FROM (
         SELECT x.to_handle, x.direction FROM unnest(i.contact || c.handles) AS h (handle)
         CROSS JOIN LATERAL (
           SELECT x.to_handle, x.direction FROM messages x
           WHERE (x.team_id, x.from_handle, x.id) > (:teamId, h.handle, r.read_until) AND x.id > r.read_until
             AND (x.team_id, x.from_handle, x.id) <= (:teamId, h.handle, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           ORDER BY x.team_id, x.from_handle, x.id LIMIT ${unreadExaminedMax}
         ) x LIMIT ${unreadExaminedMax}
       ) x WHERE x.to_handle = i.phone_number AND x.direction = 'inbound' LIMIT ${conversationCountMax}
     ) x
   ) u
   LEFT JOIN LATERAL (
     SELECT ${sqlMessageColumns('m')} FROM messages m WHERE m.team_id = :teamId
       AND m.id BETWEEN greatest(c.last_message_id, q.message_id) AND greatest(c.last_message_id, q.message_id)
     ORDER BY m.team_id, m.id LIMIT 1
   ) m ON true
   LEFT JOIN LATERAL (
     SELECT p.id, p.name FROM (
       SELECT h.contact_id FROM contact_handles h WHERE h.team_id = :teamId AND h.handle = i.contact OFFSET 0
     ) h
     CROSS JOIN LATERAL (SELECT p.id, p.name FROM contacts p WHERE p.team_id = :teamId AND p.id = h.contact_id OFFSET 0) p
   ) p ON true
   ORDER BY i.n`,
).rows;

/**
 * Reads facts about conversations, in the order of the keys. Conversations of numbers that the team never had are
 * left out.
 */
export function listFacts(
  db: Queryable,
  teamId: TeamId,
  keys: readonly ConversationKey[],
  reader: Reader,
): Promise<FactsRow[]> {
  return facts(db, {
    teamId,
    phoneNumbers: keys.map(({ phoneNumber }) => phoneNumber),
    contacts: keys.map(({ contact }) => contact),
    ...reader,
  });
}

/** The person of a conversation. */
export function contactOfFacts({ contact_id, contact_name }: FactsOfRow) {
  return { contact_id: contact_id && publicId('con', contact_id), name: contact_name };
}

function lastActivityOf({ last_activity_at, queued_at }: FactsOfRow): string {
  const times = [last_activity_at, queued_at].map((time) => time?.getTime() ?? 0);
  return new Date(Math.max(...times)).toISOString();
}

/** A conversation as one member sees it. */
function conversationView(row: FactsRow, sender: MessageSender | undefined): Conversation {
  return {
    id: publicId('cnv', row.conversation_id),
    phone_number: row.phone_number,
    number_label: row.label,
    number_removed: row.is_removed,
    ...(row.is_simulated ? { simulated: true } : {}),
    contact: row.contact,
    ...contactOfFacts(row),
    waiting: row.is_waiting,
    last_message: row.id === null ? null : { ...messageView(row), sender: sender ?? null },
    last_activity_at: lastActivityOf(row),
    queued_count: row.queued_count,
    opted_out: row.opted_out,
    unread_count: row.unread_count,
  };
}

/** A conversation as a key sees it. */
export function publicConversationView(row: FactsRow): PublicConversation {
  return {
    id: publicId('cnv', row.conversation_id),
    phone_number: row.phone_number,
    contact: row.contact,
    ...contactOfFacts(row),
    last_message_at: lastActivityOf(row),
    waiting: row.is_waiting,
  };
}

/** Shows conversations as a member sees them, with the senders of their last messages. */
export async function viewConversations(
  db: Queryable,
  teamId: TeamId,
  rows: readonly FactsRow[],
): Promise<Conversation[]> {
  const senderIds = rows.map((row) => row.sent_by);
  const senders = await findSenders(db, teamId, senderIds);
  return rows.map((row) => conversationView(row, senders.get(row.sent_by)));
}
