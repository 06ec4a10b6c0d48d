import { cutPage } from '#server/platform/paging.ts';
import { type ConversationKey, textOfKey } from './conversation-key.ts';
import { comparePositions, type Position } from './page-position.ts';

/** A conversation with its position in the list. */
export interface PositionedConversation extends ConversationKey {
  readonly position: Position;
}

/**
 * Merges conversations with waiting messages into the page of the others. A conversation that is in both takes the
 * position of its waiting message, even if that is on another page.
 * @param waiting conversations with waiting messages, of all pages and in any order.
 * @param others the page's conversations in order: `limit` + 1 + the number of `waiting`, unless the list ends or
 * `bound` was reached.
 * @param bound the conversation at which reading stopped; older conversations belong to the next page
 */
export function mergePage(
  waiting: readonly PositionedConversation[],
  others: readonly PositionedConversation[],
  {
    before,
    bound,
    limit,
  }: {
    readonly before: Position;
    readonly bound: PositionedConversation | undefined;
    readonly limit: number;
  },
) {
  const latest = new Map<string, PositionedConversation>();
  for (const conversation of waiting) {
    const key = textOfKey(conversation);
    const known = latest.get(key);
    if (!known || comparePositions(conversation.position, known.position) < 0) latest.set(key, conversation);
  }
  const isOnPage = ({ position }: PositionedConversation) =>
    comparePositions(position, before) > 0 &&
    (bound === undefined || comparePositions(position, bound.position) <= 0);
  const merged = [
    ...[...latest.values()].filter(isOnPage),
    ...others.filter((conversation) => !latest.has(textOfKey(conversation))),
  ].sort((a, b) => comparePositions(a.position, b.position));
  return cutPage(merged, limit, bound);
}
