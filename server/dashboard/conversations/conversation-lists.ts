import { type Queryable, query } from '#server/database/query.ts';
import { sqlReadyAndHeld } from '#server/numbers/number-store.ts';
import { idMax, type MessageId, type TeamId } from '#server/platform/ids.ts';
import { cutPage, invalidCursor } from '#server/platform/paging.ts';
import {
  type ConversationKey,
  type Reader,
  sqlNumbersOfPhone,
  sqlReadUntil,
  sqlRowsOfConversation,
  textOfKey,
} from './conversation-facts.ts';

/** A position in the list of conversations: by activity, and by its message if times are equal. */
export interface Position {
  readonly at: Date;
  readonly messageId: MessageId;
}

/** Later than any time that Date and PostgreSQL have: the first page begins here. */
const beginning: Position = { at: new Date(Date.UTC(9999, 11, 31)), messageId: idMax as MessageId };
const format = /^(\d{1,14})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** Compares two positions. @returns a negative number if `a` comes first, because it is later */
export function comparePositions(a: Position, b: Position): number {
  const ms = b.at.getTime() - a.at.getTime();
  if (ms !== 0) return ms;
  if (a.messageId === b.messageId) return 0;
  // Ids are compared byte by byte, as PostgreSQL compares them.
  return a.messageId > b.messageId ? -1 : 1;
}

export function formatCursor({ at, messageId }: Position): string {
  return `${at.getTime()}_${messageId}`;
}

/** Reads the cursor. It marks a position, at which no conversation need exist. @throws AppError 400, param cursor */
export function readCursor(cursor: string | undefined): Position {
  if (cursor === undefined || cursor === '') return beginning;
  const [, ms, messageId] = format.exec(cursor) ?? [];
  if (ms !== undefined && messageId !== undefined)
    return { at: new Date(Number(ms)), messageId: messageId as MessageId };
  throw invalidCursor();
}

/** A conversation with its position in the list. */
export interface PositionedConversation extends ConversationKey {
  readonly position: Position;
}

/**
 * Merges conversations with queued messages into the page of the others. A conversation that is in both takes the
 * position of its queued message, even if that is on another page.
 * @param queued conversations with queued messages, of all pages and in any order.
 * @param others the page's conversations in order: `limit` + 1 + the number of `queued`, unless the list ends or
 * `bound` was reached.
 * @param bound the conversation at which reading stopped; older conversations belong to the next page
 */
export function mergePage(
  queued: readonly PositionedConversation[],
  others: readonly PositionedConversation[],
  before: Position,
  bound: PositionedConversation | undefined,
  limit: number,
) {
  const latest = new Map<string, PositionedConversation>();
  for (const conversation of queued) {
    const key = textOfKey(conversation);
    const known = latest.get(key);
    if (!known || comparePositions(conversation.position, known.position) < 0) latest.set(key, conversation);
  }
  const isOnPage = ({ position }: PositionedConversation) =>
    comparePositions(position, before) > 0 &&
    (bound === undefined || comparePositions(position, bound.position) <= 0);
  const merged = [
    ...[...latest.values()].filter(isOnPage),
    ...others.filter((conversation) => !latest.has(textOfKey(conversation))),
  ].sort((a, b) => comparePositions(a.position, b.position));
  return cutPage(merged, limit, bound);
}

/**
 * How many of the newest queued messages, of a team or of the filtered number, move their conversations to the top.
 */
export const queuedExaminedMax = 500;

/** A conversation that the page read: it matches the filters, or it is the last one that the page may read. */
export interface PageRow {
  readonly phone_number: string;
  readonly contact: string;
  readonly last_activity_at: Date;
  readonly last_message_id: MessageId;
  readonly fits: boolean;
  readonly is_bound: boolean;
}

/** A conversation with queued messages. */
export interface QueuedRow {
  readonly phone_number: string;
  readonly contact: string;
  /** The newest queued message. */
  readonly message_id: MessageId;
  readonly queued_at: Date;
  /** The time of the latest hand-out or inbound message; null before the first one. */
  readonly last_activity_at: Date | null;
  readonly last_message_id: MessageId | null;
  /** True if the conversation matches the filters on unread messages and on what waits for the team. */
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
 * @param isListed SQL of the rows `c` that count
 */
const pageOf = (name: string, isListed: string) =>
  query<Omit<PageParams, 'waitingOnly'>, PageRow>(
    `conversations.page-${name}`,
    `SELECT f.phone_number, f.contact, f.last_activity_at, f.last_message_id, f.fits, f.is_bound
   FROM (
     SELECT c.team_id, c.contact, c.last_activity_at, c.last_message_id, c.is_bound, n.phone_number,
       c.contact <> '' AND (:number::text IS NULL OR n.phone_number = :number)
         AND (NOT :unreadOnly::boolean OR ${sqlIsUnread('n.phone_number', 'c.contact')})
         AND NOT EXISTS (
           SELECT FROM (${sqlRowsOfConversation('n.phone_number', 'c.contact')}) later
           WHERE ${isListed.replace('c.', 'later.')} AND (later.last_activity_at, later.last_message_id) > (c.last_activity_at, c.last_message_id)
         ) AS fits
     FROM (
       SELECT c.*, row_number() OVER (ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC) = :examinedMax::bigint AS is_bound
       FROM (
         SELECT c.team_id, c.number_id, c.contact, c.last_activity_at, c.last_message_id FROM conversations c
         WHERE ${isListed} AND (c.team_id, c.last_activity_at, c.last_message_id) < (:teamId, :at::timestamptz, :messageId::uuid)
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
const pageOfAll = pageOf('of-all', 'true');
const pageOfWaiting = pageOf('of-waiting', 'c.is_waiting');

type PageParams = PageFilters &
  Reader &
  Position & { readonly teamId: TeamId; readonly examinedMax: number; readonly limit: number };

export function listPageRows(db: Queryable, { waitingOnly, ...params }: PageParams): Promise<PageRow[]> {
  return (waitingOnly ? pageOfWaiting : pageOfAll)(db, params);
}

/**
 * Creates a statement that lists the conversations of the newest queued messages. @param newest a limited SELECT of
 * those messages
 */
function queuedOf<Params extends object>(name: string, newest: string) {
  return query<Params & Reader & { teamId: TeamId; unreadOnly: boolean; waitingOnly: boolean }, QueuedRow>(
    `conversations.queued-${name}`,
    `WITH newest AS MATERIALIZED (${newest})
     SELECT n.phone_number, w.contact, w.message_id, w.queued_at, l.last_activity_at, l.last_message_id,
       (NOT :unreadOnly::boolean OR ${sqlIsUnread('n.phone_number', 'w.contact')})
         AND (NOT :waitingOnly::boolean OR EXISTS (SELECT FROM (${sqlRowsOfConversation('n.phone_number', 'w.contact')}) x WHERE x.is_waiting)) AS fits
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
const queuedColumns = 'q.number_id, q.to_handle AS contact, q.message_id, q.queued_at';
const queuedOfTeam = queuedOf<object>(
  'of-team',
  `SELECT ${queuedColumns} FROM send_queue q
   WHERE q.team_id = :teamId AND q.message_id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
   ORDER BY q.team_id DESC, q.message_id DESC LIMIT ${queuedExaminedMax}`,
);
const queuedOfNumber = queuedOf<{ number: string }>(
  'of-number',
  `SELECT q.* FROM (${sqlNumbersOfPhone(':number')}) s
   CROSS JOIN LATERAL (
     SELECT q.* FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT ${queuedColumns}, q.seq FROM send_queue q WHERE q.number_id = s.id AND q.is_ready = h.is_ready
       ORDER BY q.number_id DESC, q.seq DESC LIMIT ${queuedExaminedMax}
     ) q ORDER BY q.seq DESC LIMIT ${queuedExaminedMax}
   ) q LIMIT ${queuedExaminedMax}`,
);

export interface PageFilters {
  /** E.164; null for all numbers. */
  readonly number: string | null;
  readonly unreadOnly: boolean;
  /** Only conversations that wait for the team. */
  readonly waitingOnly: boolean;
}

/** The conversations of the newest queued messages, unordered. */
export function listQueuedRows(
  db: Queryable,
  params: PageFilters & Reader & { readonly teamId: TeamId },
): Promise<QueuedRow[]> {
  const { number, ...ofTeam } = params;
  return number === null ? queuedOfTeam(db, ofTeam) : queuedOfNumber(db, { ...ofTeam, number });
}
