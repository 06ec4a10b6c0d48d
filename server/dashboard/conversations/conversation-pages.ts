import { type Queryable, statement } from '#server/database/statement.ts';
import { sqlReadyAndHeld } from '#server/numbers/queue-sql.ts';
import type { MemberId, MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlNumbersOfPhone, sqlRowsOfConversation } from './conversation-key.ts';
import { waitingExaminedMax } from './limits.ts';
import type { Position } from './page-position.ts';
import { type Reader, sqlReadUntil } from './read-store.ts';

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

const reader = { memberId: '$2::uuid', joinedId: '$3::uuid' };

/** The SQL condition that the newest inbound message is unread by the reader. */
function sqlIsUnread(phoneNumber: string, contact: string): string {
  return `EXISTS (SELECT FROM (${sqlRowsOfConversation('$1', phoneNumber, contact)}) u
    WHERE u.last_inbound_id > ${sqlReadUntil(reader, { teamId: '$1', phoneNumber, contact })})`;
}

/**
 * Reads a team's conversations by activity, newest first. If a conversation has several rows, the latest one represents
 * it. Messages from unknown senders have an empty contact, and belong to no conversation.
 */
const page = statement<
  [TeamId, MemberId, string, Date, MessageId, string | null, boolean, number, number],
  PageRow
>(
  'conversations.page',
  `SELECT f.phone_number, f.contact, f.last_activity_at, f.last_message_id, f.fits, f.is_bound
   FROM (
     SELECT c.team_id, c.contact, c.last_activity_at, c.last_message_id, c.is_bound, n.phone_number,
       c.contact <> '' AND ($6::text IS NULL OR n.phone_number = $6)
         AND (NOT $7::boolean OR ${sqlIsUnread('n.phone_number', 'c.contact')})
         AND NOT EXISTS (
           SELECT FROM (${sqlRowsOfConversation('$1', 'n.phone_number', 'c.contact')}) later
           WHERE (later.last_activity_at, later.last_message_id) > (c.last_activity_at, c.last_message_id)
         ) AS fits
     FROM (
       SELECT c.*, row_number() OVER (ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC) = $8::bigint AS is_bound
       FROM (
         SELECT c.team_id, c.number_id, c.contact, c.last_activity_at, c.last_message_id FROM conversations c
         WHERE (c.team_id, c.last_activity_at, c.last_message_id) < ($1, $4::timestamptz, $5::uuid)
           AND (c.team_id, c.last_activity_at, c.last_message_id) >= ($1, '-infinity', '00000000-0000-0000-0000-000000000000')
         ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC LIMIT $8
       ) c
     ) c
     CROSS JOIN LATERAL (
       SELECT n.phone_number FROM numbers n WHERE n.team_id = $1 AND n.id = c.number_id OFFSET 0
     ) n
     ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC OFFSET 0
   ) f
   WHERE f.fits OR f.is_bound
   ORDER BY f.team_id DESC, f.last_activity_at DESC, f.last_message_id DESC LIMIT $9`,
);

/**
 * Creates a statement that lists the conversations of the newest waiting messages. @param newest a limited SELECT of
 * those messages
 */
function waitingOf<Number extends [] | [phoneNumber: string]>(name: string, newest: string) {
  return statement<[TeamId, reader: string, joinedId: string, unreadOnly: boolean, ...Number], WaitingRow>(
    `conversations.waiting-${name}`,
    `WITH newest AS MATERIALIZED (${newest})
     SELECT n.phone_number, w.contact, w.message_id, w.queued_at, l.last_activity_at, l.last_message_id,
       NOT $4::boolean OR ${sqlIsUnread('n.phone_number', 'w.contact')} AS fits
     FROM (
       SELECT number_id, contact, (array_agg(message_id ORDER BY message_id DESC))[1] AS message_id,
         (array_agg(queued_at ORDER BY message_id DESC))[1] AS queued_at
       FROM newest GROUP BY number_id, contact
     ) w
     CROSS JOIN LATERAL (SELECT n.phone_number FROM numbers n WHERE n.team_id = $1 AND n.id = w.number_id OFFSET 0) n
     LEFT JOIN LATERAL (
       SELECT o.last_activity_at, o.last_message_id FROM (${sqlRowsOfConversation('$1', 'n.phone_number', 'w.contact')}) o
       ORDER BY o.last_activity_at DESC, o.last_message_id DESC LIMIT 1
     ) l ON true`,
  );
}
const waitingColumns = 'q.number_id, q.to_handle AS contact, q.message_id, q.queued_at';
const waitingOfTeam = waitingOf<[]>(
  'of-team',
  `SELECT ${waitingColumns} FROM send_queue q
   WHERE q.team_id = $1 AND q.message_id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
   ORDER BY q.team_id DESC, q.message_id DESC LIMIT ${waitingExaminedMax}`,
);
const waitingOfNumber = waitingOf<[string]>(
  'of-number',
  `SELECT q.* FROM (${sqlNumbersOfPhone('$1', '$5')}) s
   CROSS JOIN LATERAL (
     SELECT q.* FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT ${waitingColumns}, q.seq FROM send_queue q WHERE q.number_id = s.id AND q.is_ready = h.is_ready
       ORDER BY q.number_id DESC, q.seq DESC LIMIT ${waitingExaminedMax}
     ) q ORDER BY q.seq DESC LIMIT ${waitingExaminedMax}
   ) q LIMIT ${waitingExaminedMax}`,
);

export interface PageFilters {
  /** E.164 */
  readonly number: string | undefined;
  readonly unreadOnly: boolean;
}

/** @param examinedMax how many conversations are read at most; the last of them has `is_bound` */
export function listPageRows(
  db: Queryable,
  teamId: TeamId,
  { memberId, joinedId }: Reader,
  before: Position,
  { number, unreadOnly }: PageFilters,
  { examinedMax, limit }: { readonly examinedMax: number; readonly limit: number },
): Promise<PageRow[]> {
  return page.rows(
    db,
    teamId,
    memberId,
    joinedId,
    before.at,
    before.messageId,
    number ?? null,
    unreadOnly,
    examinedMax,
    limit,
  );
}

/** The conversations of the newest waiting messages, unordered. */
export function listWaitingRows(
  db: Queryable,
  teamId: TeamId,
  { memberId, joinedId }: Reader,
  { number, unreadOnly }: PageFilters,
): Promise<WaitingRow[]> {
  return number === undefined
    ? waitingOfTeam.rows(db, teamId, memberId, joinedId, unreadOnly)
    : waitingOfNumber.rows(db, teamId, memberId, joinedId, unreadOnly, number);
}
