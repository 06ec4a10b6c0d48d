import { type ConversationKey, textOfKey } from './conversation-key.ts';
import { comparePositions, type Position } from './page-position.ts';

/** A conversation with its position in the list. */
export interface PositionedConversation extends ConversationKey {
  readonly position: Position;
}

export interface MergedPage {
  readonly conversations: readonly PositionedConversation[];
  /** The position after which the next page begins; undefined for an empty last page. */
  readonly last: Position | undefined;
  readonly hasMore: boolean;
}

/**
 * Merges conversations with waiting messages into the page of the others. A conversation that is in both takes the
 * position of its waiting message, even if that is on another page.
 * @param waiting conversations with waiting messages, of all pages and in any order.
 * @param others the page's conversations in order. They are `limit`, one more, and as many more as there are waiting
 * ones, unless the list ends or `bound` was reached.
 * @param bound the position at which reading stopped; older conversations belong to the next page
 */
export function mergePage(
  waiting: readonly PositionedConversation[],
  others: readonly PositionedConversation[],
  {
    before,
    bound,
    limit,
  }: { readonly before: Position; readonly bound: Position | undefined; readonly limit: number },
): MergedPage {
  const latest = new Map<string, PositionedConversation>();
  for (const conversation of waiting) {
    const key = textOfKey(conversation);
    const known = latest.get(key);
    if (!known || comparePositions(conversation.position, known.position) < 0) latest.set(key, conversation);
  }
  const isOnPage = ({ position }: PositionedConversation) =>
    comparePositions(position, before) > 0 && (bound === undefined || comparePositions(position, bound) <= 0);
  const merged = [
    ...[...latest.values()].filter(isOnPage),
    ...others.filter((conversation) => !latest.has(textOfKey(conversation))),
  ].sort((a, b) => comparePositions(a.position, b.position));
  const conversations = merged.slice(0, limit);
  const isFull = conversations.length === limit;
  return {
    conversations,
    last: isFull || bound === undefined ? conversations.at(-1)?.position : bound,
    hasMore: merged.length > limit || bound !== undefined,
  };
}
