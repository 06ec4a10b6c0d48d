import { idMax, type MessageId } from '#server/platform/ids/ids.ts';
import { cutPage, invalidCursor } from '#server/platform/paging.ts';
import { type ConversationKey, textOfKey } from './conversation-key.ts';

/** A position in the list of conversations: by activity, and by its message if times are equal. */
export interface Position {
  readonly at: Date;
  readonly messageId: MessageId;
}

/** Later than any time that Date and PostgreSQL have: the first page begins here. */
const beginning: Position = {
  at: new Date(Date.UTC(9999, 11, 31)),
  messageId: idMax as MessageId,
};
const format = /^(\d{1,14})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** Compares two positions. @returns a negative number if `a` comes first, because it is later */
export function comparePositions(a: Position, b: Position): number {
  const ms = b.at.getTime() - a.at.getTime();
  if (ms !== 0) return ms;
  if (a.messageId === b.messageId) return 0;
  // Ids are compared byte by byte, as PostgreSQL compares them.
  return a.messageId > b.messageId ? -1 : 1;
}

export function formatCursor({ at, messageId }: Position): string {
  return `${at.getTime()}_${messageId}`;
}

/** Reads the cursor. It marks a position, at which no conversation need exist. @throws AppError 400, param cursor */
export function readCursor(cursor: string | undefined): Position {
  if (cursor === undefined || cursor === '') return beginning;
  const [, ms, messageId] = format.exec(cursor) ?? [];
  if (ms !== undefined && messageId !== undefined)
    return { at: new Date(Number(ms)), messageId: messageId as MessageId };
  throw invalidCursor();
}

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
