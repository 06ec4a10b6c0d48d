import { type Conversation, conversationCountMax } from '#contract/conversation.ts';
import type { NumberStatus } from '#contract/number.ts';
import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import { type MessageRow, sqlMessageColumns } from '#server/messages/message.ts';
import { messageView } from '#server/messages/message-view.ts';
import { sqlReadyAndHeld } from '#server/numbers/queue-sql.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { type ConversationKey, sqlNumbersOfPhone, sqlRowsOfConversation } from './conversation-key.ts';
import { type Reader, sqlReadUntil } from './read-store.ts';

/** Messages that a count of unread ones reads at most: some may be to other numbers of the team. */
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
  readonly waiting_count: number;
  /** When the newest waiting message was queued; null if none waits. */
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
     n.deleted_at IS NOT NULL AS is_removed, n.is_simulated, c.last_activity_at, c.handles, w.waiting_count, w.queued_at,
     ${sqlIsOptedOut(':teamId', 'contact', 'i.contact')} AS opted_out,
     (SELECT k.read_until FROM conversation_reads k WHERE k.team_id = :teamId AND k.member_id = :memberId AND k.phone_number = i.phone_number AND k.contact = i.contact)
       AS read_until,
     greatest(u.unread_count, (c.last_inbound_id > r.read_until)::int) AS unread_count,
     ${sqlMessageColumns('m')}
   FROM unnest(:phoneNumbers::text[], :contacts::text[]) WITH ORDINALITY AS i (phone_number, contact, n)
   CROSS JOIN LATERAL (SELECT l.* FROM (${sqlNumbersOfPhone('i.phone_number')}) l LIMIT 1) n
   CROSS JOIN LATERAL (
     SELECT max(o.last_activity_at) AS last_activity_at, (array_agg(o.last_message_id ORDER BY o.last_message_id DESC))[1] AS last_message_id,
       (array_agg(o.last_inbound_id ORDER BY o.last_inbound_id DESC NULLS LAST))[1] AS last_inbound_id,
       ARRAY(SELECT DISTINCT h.handle FROM (${sqlRowsOfConversation('i.phone_number', 'i.contact')}) a CROSS JOIN unnest(a.handles) AS h (handle)) AS handles
     FROM (${sqlRowsOfConversation('i.phone_number', 'i.contact')}) o
   ) c
   CROSS JOIN LATERAL (SELECT ${sqlReadUntil('i.phone_number', 'i.contact')} AS read_until OFFSET 0) r
   CROSS JOIN LATERAL (
     SELECT least(count(*), ${conversationCountMax}) AS waiting_count, (array_agg(q.message_id ORDER BY q.message_id DESC))[1] AS message_id, max(q.queued_at) AS queued_at
     FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT q.message_id, q.queued_at FROM send_queue q WHERE q.number_id = n.id AND q.to_handle = i.contact AND q.is_ready = h.is_ready
       ORDER BY q.number_id DESC, q.to_handle DESC, q.seq DESC LIMIT ${conversationCountMax}
     ) q
   ) w
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
     SELECT m.* FROM messages m WHERE m.team_id = :teamId
       AND m.id BETWEEN greatest(c.last_message_id, w.message_id) AND greatest(c.last_message_id, w.message_id)
     ORDER BY m.team_id, m.id LIMIT 1
   ) m ON true
   ORDER BY i.n`,
).rows;

/**
 * Reads facts about conversations, in the order of the keys. Conversations of numbers that the team never had are
 * skipped.
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

/** A conversation as one member sees it (specification section 12.11). */
export function conversationView(row: FactsRow): Conversation {
  const times = [row.last_activity_at, row.queued_at].map((time) => time?.getTime() ?? 0);
  return {
    phone_number: row.phone_number,
    number_label: row.label,
    number_removed: row.is_removed,
    ...(row.is_simulated ? { simulated: true } : {}),
    contact: row.contact,
    last_message: row.id === null ? null : messageView(row),
    last_activity_at: new Date(Math.max(...times)).toISOString(),
    waiting_count: row.waiting_count,
    opted_out: row.opted_out,
    unread_count: row.unread_count,
  };
}
