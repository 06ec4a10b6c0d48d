import type { ConversationMessageList, ListConversationMessagesQuery } from '#contract/conversation.ts';
import type { MessageList } from '#contract/message.ts';
import type { HealthState } from '#contract/number-health.ts';
import { listLimitDefault } from '#contract/paging.ts';
import { listHandles } from '#server/contacts/contact-store.ts';
import { type Scanned, sqlBoundedScan, sqlRowsAlong } from '#server/database/bounded-scan.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type MessageRow, messageView, sqlMessageColumns } from '#server/messages/message.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { conversationMessageView, findSenders } from '#server/messages/senders.ts';
import { explainWaiting } from '#server/messages/waiting-reason.ts';
import { findHealth, sqlReadyAndHeld } from '#server/numbers/number-store.ts';
import { findOptOut, optOutView } from '#server/opt-outs/opt-out-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import {
  type ConversationId,
  type MessageId,
  type NumberId,
  publicId,
  type TeamId,
} from '#server/platform/ids.ts';
import { pageOfIds, parseCursor } from '#server/platform/paging.ts';
import {
  type ConversationKey,
  contactOfFacts,
  type FactsRow,
  keyReader,
  listFacts,
  type Reader,
} from './conversation-facts.ts';
import { queuedExaminedMax } from './conversation-lists.ts';

/** How many of a conversation's newest queued messages are examined for spellings of the contact. */
const queuedSpellingsExaminedMax = 100;

export type ConversationMessageRow = MessageRow & Scanned;

interface QueuedMessages {
  /** The oldest queued message; null if none is queued. */
  readonly head_id: MessageId | null;
  /** The recipients of the newest queued messages, as they were sent. */
  readonly handles: readonly string[];
}

/** A scan of the messages of each handle, with filters on number and direction. */
function along(column: 'from_handle' | 'to_handle', fits: string): string {
  const columns = sqlMessageColumns('m');
  const rows = sqlRowsAlong('messages', 'm', column, columns, [':teamId', 'h.handle', ':before::uuid']);
  const bounds = { fits, examinedMax: ':examinedMax::bigint', limit: ':limit' };
  const scan = sqlBoundedScan(rows, columns, bounds);
  return `SELECT m.* FROM unnest(:handles::text[]) AS h (handle) CROSS JOIN LATERAL (${scan}) m`;
}

/**
 * Lists messages of a conversation before an id. Each spelling of the contact and each direction is a scan. It returns
 * its newest `limit` messages and, if it stops early, the row where it stopped. A scan reads `examinedMax` messages at
 * most.
 */
const listRowsOfConversation = query<
  {
    teamId: TeamId;
    phoneNumber: string;
    handles: readonly string[];
    before: string;
    examinedMax: number;
    limit: number;
  },
  ConversationMessageRow
>(
  'conversations.messages',
  `${along('from_handle', `m.direction = 'inbound' AND m.to_handle = :phoneNumber`)}
   UNION ALL
   ${along('to_handle', `m.direction = 'outbound' AND m.from_handle = :phoneNumber`)}`,
).rows;

/** Finds the queued messages of a conversation. */
const findQueuedMessages = query<{ teamId: TeamId; numberId: NumberId; contact: string }, QueuedMessages>(
  'conversations.queued-messages',
  `SELECT
     (SELECT q.message_id FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
        SELECT q.message_id FROM send_queue q WHERE q.number_id = :numberId AND q.to_handle = :contact AND q.is_ready = h.is_ready
        ORDER BY q.number_id, q.to_handle, q.seq LIMIT 1
      ) q ORDER BY h.is_ready DESC LIMIT 1) AS head_id,
     ARRAY(
       SELECT DISTINCT m.to_handle FROM (
         SELECT q.message_id FROM send_queue q WHERE q.number_id = :numberId AND q.to_handle = :contact
         ORDER BY q.number_id DESC, q.to_handle DESC, q.is_ready DESC, q.seq DESC LIMIT ${queuedSpellingsExaminedMax}
       ) q
       CROSS JOIN LATERAL (
         SELECT m.to_handle FROM messages m WHERE m.team_id = :teamId AND m.id BETWEEN q.message_id AND q.message_id
         ORDER BY m.team_id, m.id LIMIT 1
       ) m
     ) AS handles`,
).one;

/**
 * Finds a conversation by its id. The newest queued messages are searched too, because the list shows conversations that
 * have only queued ones.
 */
const findConversationById = query<
  { teamId: TeamId; conversationId: ConversationId },
  { phone_number: string; contact: string }
>(
  'conversations.find',
  `SELECT f.phone_number, f.contact FROM (
     (SELECT n.phone_number, c.contact FROM (
        SELECT c.number_id, c.contact FROM conversations c WHERE c.team_id = :teamId AND c.id = :conversationId LIMIT 1
      ) c CROSS JOIN LATERAL (SELECT n.phone_number FROM numbers n WHERE n.team_id = :teamId AND n.id = c.number_id OFFSET 0) n)
     UNION ALL
     (SELECT n.phone_number, q.to_handle FROM (
        SELECT q.number_id, q.to_handle FROM send_queue q
        WHERE q.team_id = :teamId AND q.message_id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        ORDER BY q.team_id DESC, q.message_id DESC LIMIT ${queuedExaminedMax}
      ) q CROSS JOIN LATERAL (SELECT n.phone_number FROM numbers n WHERE n.team_id = :teamId AND n.id = q.number_id OFFSET 0) n
      WHERE conversation_id(:teamId, n.phone_number, q.to_handle) = :conversationId)
   ) f LIMIT 1`,
).row;

/** Messages that a page of a conversation reads at most, over all spellings of the contact and both directions. */
export const conversationMessagesExaminedMax = 10_000;

/**
 * Lists a page of a conversation's messages, newest first, with its facts and its queued messages. For a contact without
 * messages the page is empty.
 * @throws AppError 404 for a number that the team never had; 400, param cursor
 */
async function listMessageRows(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  reader: Reader,
  key: ConversationKey,
  { limit = listLimitDefault, cursor = '' }: ListConversationMessagesQuery,
) {
  const before = parseCursor('msg', cursor);
  const [facts] = await listFacts(pages, teamId, [key], reader);
  if (!facts) throw notFound('number');
  const { live_number_id: numberId } = facts;
  const queued = await findQueuedMessages(pages, { teamId, numberId, contact: key.contact });
  const handles = [...new Set([key.contact, ...facts.handles, ...queued.handles])];
  const rows = await listRowsOfConversation(pages, {
    teamId,
    phoneNumber: key.phoneNumber,
    handles,
    before,
    examinedMax: Math.floor(conversationMessagesExaminedMax / (2 * handles.length)),
    limit: limit + 1,
  });
  // Merges the rows of all scans. If a scan stopped early, older rows belong to the next page.
  const newestFirst = rows.toSorted((a, b) => (a.id > b.id ? -1 : 1));
  return { facts, headId: queued.head_id, ...pageOfIds('msg', newestFirst, limit) };
}

/** Lists the messages of a conversation as GET /v1/messages does. @throws AppError 404; 400, param cursor */
export async function listPublicMessages(
  services: Runtime,
  teamId: TeamId,
  conversationId: ConversationId,
  asked: ListConversationMessagesQuery,
): Promise<MessageList> {
  const found = await findConversationById(services.database.pages, { teamId, conversationId });
  if (!found) throw notFound('conversation');
  const key = { phoneNumber: found.phone_number, contact: found.contact };
  const { rows, cursor, has_more } = await listMessageRows(services, teamId, keyReader, key, asked);
  return { messages: rows.map(messageView), cursor, has_more };
}

/** Lists the messages of a conversation as a member sees them. @throws AppError 404; 400, param cursor */
export async function listConversationMessages(
  services: Runtime,
  teamId: TeamId,
  reader: Reader,
  key: ConversationKey,
  asked: ListConversationMessagesQuery,
): Promise<ConversationMessageList> {
  const { database, clock } = services;
  const { pages, pool } = database;
  const { facts, headId, rows, ...page } = await listMessageRows(services, teamId, reader, key, asked);
  const { live_number_id: numberId } = facts;
  const senderIds = rows.map((row) => row.sent_by);
  const senders = await findSenders(pages, teamId, senderIds);
  const optOut = await findOptOut(pool, { teamId, contact: key.contact });
  const health = await findHealth(pool, { teamId, numberId, now: clock.now() });
  return {
    number: numberOf(facts, health?.health ?? 'pending'),
    id: publicId('cnv', facts.conversation_id),
    contact: key.contact,
    ...contactOfFacts(facts),
    contact_handles: await handlesOf(services, teamId, facts),
    waiting: facts.is_waiting,
    opt_out: optOut ? optOutView(optOut) : null,
    queued: headId && (await explainHead(services, teamId, headId)),
    read_until: facts.read_until && publicId('msg', facts.read_until),
    unread_count: facts.unread_count,
    messages: rows.map((row) => conversationMessageView(row, senders.get(row.sent_by))),
    ...page,
  };
}

async function handlesOf(
  { database }: Runtime,
  teamId: TeamId,
  { contact_id: contactId }: FactsRow,
): Promise<string[]> {
  const rows = contactId === null ? [] : await listHandles(database.pool, { teamId, contactId });
  return rows.map(({ handle }) => handle);
}

async function explainHead(
  services: Runtime,
  teamId: TeamId,
  headId: MessageId,
): Promise<ConversationMessageList['queued']> {
  const message = await findMessage(services.database.pool, { teamId, messageId: headId });
  // The message was handed out meanwhile, so it is no longer queued.
  if (message?.status !== 'queued') return null;
  const { reason, expectedAt } = await explainWaiting(services, message);
  return { message_id: publicId('msg', headId), reason, expected_at: expectedAt?.toISOString() ?? null };
}

function numberOf(facts: FactsRow, health: HealthState): ConversationMessageList['number'] {
  return {
    id: publicId('num', facts.live_number_id),
    phone_number: facts.phone_number,
    label: facts.label,
    status: facts.number_status,
    verified: facts.is_verified,
    removed: facts.is_removed,
    ...(facts.is_simulated ? { simulated: true } : {}),
    health,
  };
}
