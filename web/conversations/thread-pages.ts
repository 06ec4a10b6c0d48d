import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import type { Message } from '#contract/message.ts';

/** The loaded messages of a conversation. The newest page is read again and again, earlier pages once. */
export interface Thread {
  /** The newest page, with the facts of number and contact. */
  readonly latest: ConversationMessageList;
  /** Newest first, without a gap. */
  readonly messages: readonly ConversationMessage[];
  /** Where the earlier messages begin. */
  readonly cursor: string;
  readonly hasEarlier: boolean;
}

/**
 * Adds the newest page. So news cost one read, however much of a long conversation is shown. Where more came meanwhile than a
 * page holds, the earlier messages are dropped, and can be read again.
 */
export function withLatest(before: Thread | undefined, latest: ConversationMessageList): Thread {
  const { messages, cursor, has_more } = latest;
  const newestKnown = before?.messages[0]?.id ?? '';
  if (!before || !has_more || newestKnown < cursor) {
    return { latest, messages, cursor, hasEarlier: has_more };
  }
  // The page has all that is not older than its cursor.
  const older = before.messages.filter(({ id }) => id < cursor);
  if (older.length === 0) return { latest, messages, cursor, hasEarlier: has_more };
  return { ...before, latest, messages: [...messages, ...older] };
}

/** Adds the page that was read from a cursor. A thread that began anew meanwhile stays as it is. */
export function withEarlier(before: Thread, from: string, page: ConversationMessageList): Thread {
  if (before.cursor !== from) return before;
  return {
    ...before,
    messages: [...before.messages, ...page.messages],
    cursor: page.cursor,
    hasEarlier: page.has_more,
  };
}

/** Takes over where messages stand by now: those of earlier pages are not read again. */
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
