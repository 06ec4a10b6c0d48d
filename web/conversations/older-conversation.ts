import type { Conversation } from '#contract/conversation.ts';

/** Whether a conversation comes after a page of the list. Its cursor begins with the time of the last activity. */
export function isOlderConversation(
  { last_activity_at }: Pick<Conversation, 'last_activity_at'>,
  cursor: string,
): boolean {
  // A conversation with the same time may be on the page: the list leaves out repeats.
  return Date.parse(last_activity_at) <= Number.parseInt(cursor, 10);
}
