import type { Conversation, ConversationFacts } from '#contract/conversation.ts';
import type { Message } from '#contract/message.ts';
import { rowKey } from '../conversations/row-key.ts';
import { countUnreadSince, isUnread } from '../conversations/unread.ts';

/** A page of conversations, latest activity first. */
export interface ConversationPage {
  readonly conversations: readonly Conversation[];
  readonly has_more: boolean;
}

/** Rows of the live stream: conversations without unread counts, and changed messages. */
export interface ConversationRows {
  readonly conversations: readonly ConversationFacts[];
  readonly messages: readonly Message[];
}

export interface MergedConversations<Page> {
  readonly pages: Page[];
  /** Whether a row belongs to an unknown conversation, whose unread count only the server knows. */
  readonly hasUnknown: boolean;
}

/**
 * Merges rows into the loaded pages, in the order of latest activity. A conversation older than the pages belongs to a
 * page that is not loaded. A list of unread conversations gets only unread ones.
 */
export function mergeConversations<Page extends ConversationPage>(
  pages: readonly Page[],
  { conversations, messages }: ConversationRows,
  isUnreadOnly: boolean,
): MergedConversations<Page> {
  const shown = pages.flatMap((page) => page.conversations);
  const known = new Map(shown.map((one) => [rowKey(one), one]));
  const newest = shown[0]?.last_message?.id ?? '';
  const changedIds = new Set(messages.map(({ id }) => id));
  // A row is outdated if the loaded conversation has a newer last message, which the new rows do not change.
  const isLate = ({ last_message }: ConversationFacts, before: Conversation | undefined) =>
    !!before?.last_message &&
    before.last_message.id > (last_message?.id ?? '') &&
    !changedIds.has(before.last_message.id);
  const current = conversations.filter((facts) => !isLate(facts, known.get(rowKey(facts))));
  const changed = current.map((facts) => {
    const before = known.get(rowKey(facts));
    const since = before ? (before.last_message?.id ?? '') : newest;
    return { ...facts, unread_count: (before?.unread_count ?? 0) + countUnreadSince(facts, messages, since) };
  });
  const now = new Map(changed.map((one) => [rowKey(one), one]));
  const isMoved = (one: Conversation) => {
    const latest = now.get(rowKey(one));
    return latest !== undefined && latest.last_activity_at > one.last_activity_at;
  };
  const unknown = changed.filter((one) => !known.has(rowKey(one)));
  let risen = [
    ...unknown.filter((one) => !isUnreadOnly || isUnread(one)),
    ...shown.filter(isMoved).flatMap((one) => now.get(rowKey(one)) ?? []),
  ];
  const merged = pages.map((page) => {
    const oldest = page.conversations.at(-1)?.last_activity_at ?? '';
    const isOfPage = (one: Conversation) => one.last_activity_at > oldest || !page.has_more;
    const own = risen.filter(isOfPage);
    risen = risen.filter((one) => !isOfPage(one));
    const stayed = page.conversations
      .filter((one) => !isMoved(one))
      .map((one) => now.get(rowKey(one)) ?? one);
    return { ...page, conversations: own.length === 0 ? stayed : latestFirst([...own, ...stayed]) };
  });
  const shownNow = new Set(merged.flatMap((page) => page.conversations.map(rowKey)));
  return { pages: merged, hasUnknown: unknown.some((one) => shownNow.has(rowKey(one))) };
}

function latestFirst(conversations: readonly Conversation[]): Conversation[] {
  return conversations.toSorted((one, other) => other.last_activity_at.localeCompare(one.last_activity_at));
}
