import type { ConversationRead } from '#contract/conversation.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids.ts';
import {
  type ConversationKey,
  conversationOf,
  listFacts,
  moveReadMark,
  type Reader,
  textOfKey,
} from './conversation-facts.ts';

/**
 * Marks a conversation as read up to one of its messages, for one member. The read mark
 * never moves back, so an outdated browser window changes nothing.
 * @throws AppError 404 if the message is not one of the conversation
 */
export async function markConversationRead(
  { database: { pool, pages } }: Runtime,
  teamId: TeamId,
  reader: Reader,
  key: ConversationKey,
  messageId: MessageId,
): Promise<ConversationRead> {
  const message = await findMessage(pool, { teamId, messageId });
  if (!message || textOfKey(conversationOf(message)) !== textOfKey(key)) throw notFound('message');
  const { memberId } = reader;
  const mark = await moveReadMark(pool, { ...key, teamId, memberId, messageId });
  const [facts] = await listFacts(pages, teamId, [key], reader);
  return { read_until: publicId('msg', mark.read_until), unread_count: facts?.unread_count ?? 0 };
}
