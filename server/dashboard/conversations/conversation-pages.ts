import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import { sqlReadyAndHeld } from '#server/numbers/queue-sql.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlNumbersOfPhone, sqlRowsOfConversation } from './conversation-key.ts';
import type { Position } from './page-position.ts';
import { type Reader, sqlReadUntil } from './read-store.ts';

/** How many of the newest waiting messages move their conversations to the top, of a team or of the filtered number. */
export const waitingExaminedMax = 500;

/** A conversation that the page read: it matches the filters, or it is the last one that the page may read. */
export interface PageRow {
  readonly phone_number: string;
  readonly contact: string;
  readonly last_activity_at: Date;
  readonly last_message_id: MessageId;
  readonly fits: boolean;
  readonly is_bound: boolean;
}

/** A conversation with waiting messages. */
export interface WaitingRow {
  readonly phone_number: string;
  readonly contact: string;
  /** The newest waiting message. */
  readonly message_id: MessageId;
  readonly queued_at: Date;
  /** The time of the latest hand-out or inbound message; null before the first one. */
  readonly last_activity_at: Date | null;
  readonly last_message_id: MessageId | null;
  /** True if the conversation matches the filter on unread messages. */
  readonly fits: boolean;
}

/** The SQL condition that the newest inbound message is unread by the reader. */
function sqlIsUnread(phoneNumber: string, contact: string): string {
  return `EXISTS (SELECT FROM (${sqlRowsOfConversation(phoneNumber, contact)}) u
    WHERE u.last_inbound_id > ${sqlReadUntil(phoneNumber, contact)})`;
}

/**
 * Reads a team's conversations by activity, newest first. If a conversation has several rows, the latest one represents
 * it. Messages from unknown senders have an empty contact, and belong to no conversation. At most `examinedMax`
 * conversations are read; the last of them has `is_bound`.
 */
export const listPageRows = query<
  PageFilters & Reader & Position & { teamId: TeamId; examinedMax: number; limit: number },
  PageRow
>(
  'conversations.page',
  `SELECT f.phone_number, f.contact, f.last_activity_at, f.last_message_id, f.fits, f.is_bound
   FROM (
     SELECT c.team_id, c.contact, c.last_activity_at, c.last_message_id, c.is_bound, n.phone_number,
       c.contact <> '' AND (:number::text IS NULL OR n.phone_number = :number)
         AND (NOT :unreadOnly::boolean OR ${sqlIsUnread('n.phone_number', 'c.contact')})
         AND NOT EXISTS (
           SELECT FROM (${sqlRowsOfConversation('n.phone_number', 'c.contact')}) later
           WHERE (later.last_activity_at, later.last_message_id) > (c.last_activity_at, c.last_message_id)
         ) AS fits
     FROM (
       SELECT c.*, row_number() OVER (ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC) = :examinedMax::bigint AS is_bound
       FROM (
         SELECT c.team_id, c.number_id, c.contact, c.last_activity_at, c.last_message_id FROM conversations c
         WHERE (c.team_id, c.last_activity_at, c.last_message_id) < (:teamId, :at::timestamptz, :messageId::uuid)
           AND (c.team_id, c.last_activity_at, c.last_message_id) >= (:teamId, '-infinity', '00000000-0000-0000-0000-000000000000')
         ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC LIMIT :examinedMax
       ) c
     ) c
     CROSS JOIN LATERAL (
       SELECT n.phone_number FROM numbers n WHERE n.team_id = :teamId AND n.id = c.number_id OFFSET 0
     ) n
     ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC OFFSET 0
   ) f
   WHERE f.fits OR f.is_bound
   ORDER BY f.team_id DESC, f.last_activity_at DESC, f.last_message_id DESC LIMIT :limit`,
).rows;

/**
 * Creates a statement that lists the conversations of the newest waiting messages. @param newest a limited SELECT of
 * those messages
 */
function waitingOf<Params extends object>(name: string, newest: string) {
  return query<Params & Reader & { teamId: TeamId; unreadOnly: boolean }, WaitingRow>(
    `conversations.waiting-${name}`,
    `WITH newest AS MATERIALIZED (${newest})
     SELECT n.phone_number, w.contact, w.message_id, w.queued_at, l.last_activity_at, l.last_message_id,
       NOT :unreadOnly::boolean OR ${sqlIsUnread('n.phone_number', 'w.contact')} AS fits
     FROM (
       SELECT number_id, contact, (array_agg(message_id ORDER BY message_id DESC))[1] AS message_id,
         (array_agg(queued_at ORDER BY message_id DESC))[1] AS queued_at
       FROM newest GROUP BY number_id, contact
     ) w
     CROSS JOIN LATERAL (SELECT n.phone_number FROM numbers n WHERE n.team_id = :teamId AND n.id = w.number_id OFFSET 0) n
     LEFT JOIN LATERAL (
       SELECT o.last_activity_at, o.last_message_id FROM (${sqlRowsOfConversation('n.phone_number', 'w.contact')}) o
       ORDER BY o.last_activity_at DESC, o.last_message_id DESC LIMIT 1
     ) l ON true`,
  ).rows;
}
const waitingColumns = 'q.number_id, q.to_handle AS contact, q.message_id, q.queued_at';
const waitingOfTeam = waitingOf<object>(
  'of-team',
  `SELECT ${waitingColumns} FROM send_queue q
   WHERE q.team_id = :teamId AND q.message_id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
   ORDER BY q.team_id DESC, q.message_id DESC LIMIT ${waitingExaminedMax}`,
);
const waitingOfNumber = waitingOf<{ number: string }>(
  'of-number',
  `SELECT q.* FROM (${sqlNumbersOfPhone(':number')}) s
   CROSS JOIN LATERAL (
     SELECT q.* FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT ${waitingColumns}, q.seq FROM send_queue q WHERE q.number_id = s.id AND q.is_ready = h.is_ready
       ORDER BY q.number_id DESC, q.seq DESC LIMIT ${waitingExaminedMax}
     ) q ORDER BY q.seq DESC LIMIT ${waitingExaminedMax}
   ) q LIMIT ${waitingExaminedMax}`,
);

export interface PageFilters {
  /** E.164; null for all numbers. */
  readonly number: string | null;
  readonly unreadOnly: boolean;
}

/** The conversations of the newest waiting messages, unordered. */
export function listWaitingRows(
  db: Queryable,
  params: PageFilters & Reader & { readonly teamId: TeamId },
): Promise<WaitingRow[]> {
  const { number, ...ofTeam } = params;
  return number === null ? waitingOfTeam(db, ofTeam) : waitingOfNumber(db, { ...ofTeam, number });
}
