import {
  conversationCountMax,
  newestInboundMax,
  type SetWaitingRequest,
  type WaitingConversations,
} from '#contract/conversation.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { beginWaiting, endWaiting } from '#server/messages/conversation-store.ts';
import { contactView, type MessageRow, messageView, sqlMessageColumns } from '#server/messages/message.ts';
import { findContactsOf, findMessage } from '#server/messages/message-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids.ts';
import { type ConversationKey, conversationOf, textOfKey } from './conversation-facts.ts';

/** Waiting conversations that the counts read at most. */
const waitingExaminedMax = 1_000;

const countWaiting = query<{ teamId: TeamId }, { phone_number: string; count: number }>(
  'conversations.count-waiting',
  `SELECT n.phone_number, least(count(DISTINCT c.contact), ${conversationCountMax})::int AS count
   FROM (
     SELECT c.number_id, c.contact FROM conversations c WHERE c.is_waiting
       AND (c.team_id, c.last_activity_at, c.last_message_id) >= (:teamId, '-infinity', '00000000-0000-0000-0000-000000000000')
       AND (c.team_id, c.last_activity_at, c.last_message_id) <= (:teamId, 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     ORDER BY c.team_id DESC, c.last_activity_at DESC, c.last_message_id DESC LIMIT ${waitingExaminedMax}
   ) c
   CROSS JOIN LATERAL (SELECT n.phone_number FROM numbers n WHERE n.team_id = :teamId AND n.id = c.number_id OFFSET 0) n
   GROUP BY n.phone_number ORDER BY n.phone_number`,
).rows;

const listNewestInbound = query<{ teamId: TeamId }, MessageRow>(
  'conversations.newest-inbound',
  `SELECT ${sqlMessageColumns('m')} FROM messages m
   WHERE m.team_id = :teamId AND m.direction LIKE 'inbound' AND m.id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
   ORDER BY m.team_id DESC, m.id DESC LIMIT ${newestInboundMax}`,
).rows;

/** Counts the conversations that wait for the team, with the latest inbound messages, which notifications show. */
export async function countWaitingConversations(
  { database: { pages } }: Runtime,
  teamId: TeamId,
): Promise<WaitingConversations> {
  const counts = await countWaiting(pages, { teamId });
  const newest = await listNewestInbound(pages, { teamId });
  const contacts = await findContactsOf(pages, teamId, newest);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return {
    waiting_conversations: Math.min(total, conversationCountMax),
    numbers: counts.map(({ phone_number, count }) => ({ phone_number, waiting_conversations: count })),
    newest_inbound: newest.map((row) => ({ ...messageView(row), ...contactView(contacts.get(row)) })),
  };
}

/**
 * Marks a conversation as done up to a message, or lets it wait again.
 * @throws AppError 404 if the message is not one of the conversation
 */
export async function setWaiting(
  { database: { pool } }: Runtime,
  teamId: TeamId,
  key: ConversationKey,
  request: SetWaitingRequest,
): Promise<void> {
  const messageId = parseId('msg', request.message_id);
  const message = messageId && (await findMessage(pool, { teamId, messageId }));
  if (!message || textOfKey(conversationOf(message)) !== textOfKey(key)) throw notFound('message');
  if (request.waiting) await beginWaiting(pool, { ...key, teamId });
  else await endWaiting(pool, { ...key, teamId, untilId: message.id });
}
