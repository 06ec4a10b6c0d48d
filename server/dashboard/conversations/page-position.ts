import { idMax, type MessageId } from '#server/platform/ids/ids.ts';
import { invalidCursor } from '#server/platform/paging.ts';

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
