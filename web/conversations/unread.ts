import type {
  Conversation,
  ConversationFacts,
  ConversationMessageList,
  conversationCountMax,
} from '#contract/conversation.ts';
import type { Message } from '#contract/message.ts';

// Received messages after the read mark are unread (specification section 12.11). The server counts them up to
// `countMax`. The live stream sends no counts, so messages that arrive later are added here until the next read.

const countMax: typeof conversationCountMax = 100;

export const isUnread = ({ unread_count }: Pick<Conversation, 'unread_count'>) => unread_count > 0;

/** The unread count as shown; the server stops at 100. */
export const unreadText = ({ unread_count }: Pick<Conversation, 'unread_count'>) =>
  unread_count >= countMax ? `${countMax - 1}+` : String(unread_count);

/** Whether one of the messages is unread, because it was received. */
export const hasUnread = (messages: readonly Message[]) => messages.some(isReceived);

/**
 * Counts the messages that a conversation received after `since`. The last message counts even if its handle is spelled
 * differently.
 * @param since the id of the last message that is counted already
 */
export function countUnreadSince(
  { phone_number, contact, last_message }: ConversationFacts,
  messages: readonly Message[],
  since: string,
): number {
  const isNew = (message: Message) => isReceived(message) && message.id > since;
  const count = messages.filter(
    (message) => isNew(message) && message.to === phone_number && message.from === contact,
  ).length;
  return last_message !== null && isNew(last_message) ? Math.max(1, count) : count;
}

/** The id to which the read mark of an open conversation moves; undefined where nothing is unread. */
export function markOf(latest: ConversationMessageList | undefined): string | undefined {
  return latest && isUnread(latest) ? latest.messages[0]?.id : undefined;
}

function isReceived({ direction }: Message): boolean {
  return direction === 'inbound';
}
