import type { Conversation, ConversationMessageList, conversationCountMax } from '#contract/conversation.ts';

// Received messages after the read mark are unread. The server counts them up to
// `countMax`.

const countMax: typeof conversationCountMax = 100;

export const isUnread = ({ unread_count }: Pick<Conversation, 'unread_count'>) => unread_count > 0;

/** A count of conversations or messages as shown; the server stops at 100. */
export const countText = (count: number) => (count >= countMax ? `${countMax - 1}+` : String(count));

/** The id to which the read mark of an open conversation moves; undefined if nothing is unread. */
export function markOf(latest: ConversationMessageList | undefined): string | undefined {
  return latest && isUnread(latest) ? latest.messages[0]?.id : undefined;
}
