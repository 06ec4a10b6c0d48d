import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import type { Message } from '#contract/message.ts';

/** The loaded messages of a conversation. Only the newest page is read repeatedly. */
export interface Thread {
  /** The newest page, with the state of number and contact. */
  readonly latest: ConversationMessageList;
  /** Newest first, without a gap. */
  readonly messages: readonly ConversationMessage[];
  /** The position before which earlier messages begin. */
  readonly cursor: string;
  readonly hasEarlier: boolean;
}

/**
 * Merges the newest page into a thread, so that an update costs one read. If more messages arrived than a page holds,
 * the earlier pages are dropped, because the messages in between are not loaded.
 */
export function withLatest(before: Thread | undefined, latest: ConversationMessageList): Thread {
  const { messages, cursor, has_more } = latest;
  const newestKnown = before?.messages[0]?.id ?? '';
  if (!before || !has_more || newestKnown < cursor) {
    return { latest, messages, cursor, hasEarlier: has_more };
  }
  // The newest page contains all messages from its cursor on, so only messages before the cursor are kept.
  const older = before.messages.filter(({ id }) => id < cursor);
  if (older.length === 0) return { latest, messages, cursor, hasEarlier: has_more };
  return { ...before, latest, messages: [...messages, ...older] };
}

/** Appends the page that was read from a cursor. A thread whose cursor has changed since then stays as it is. */
export function withEarlier(before: Thread, from: string, page: ConversationMessageList): Thread {
  if (before.cursor !== from) return before;
  return {
    ...before,
    messages: [...before.messages, ...page.messages],
    cursor: page.cursor,
    hasEarlier: page.has_more,
  };
}

/** Updates the statuses of messages on earlier pages, which are not read again. */
export function withStatuses(
  before: Thread,
  rows: readonly Message[],
  laterOf: (before: Message, row: Message) => Message,
): Thread {
  const byId = new Map(rows.map((row) => [row.id, row]));
  if (!before.messages.some(({ id }) => byId.has(id))) return before;
  return {
    ...before,
    messages: before.messages.map((message) => {
      const row = byId.get(message.id);
      if (!row || laterOf(message, row) === message) return message;
      return { ...message, status: row.status, delivered_at: row.delivered_at };
    }),
  };
}
