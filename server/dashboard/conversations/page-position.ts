import { invalid } from '#server/platform/app-error.ts';
import type { MessageId } from '#server/platform/ids/ids.ts';

/** A position in the list: by activity, and by the message of that activity where times are equal. */
export interface Position {
  readonly at: Date;
  readonly messageId: MessageId;
}

/** After the latest time that a Date and PostgreSQL have: the first page begins here. */
const beginning: Position = {
  at: new Date(Date.UTC(9999, 11, 31)),
  messageId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' as MessageId,
};
const format = /^(\d{1,14})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** @returns a negative number where `a` stands before `b`: the later one does */
export function comparePositions(a: Position, b: Position): number {
  const ms = b.at.getTime() - a.at.getTime();
  if (ms !== 0) return ms;
  if (a.messageId === b.messageId) return 0;
  // As PostgreSQL compares them: byte by byte.
  return a.messageId > b.messageId ? -1 : 1;
}

export function formatCursor({ at, messageId }: Position): string {
  return `${at.getTime()}_${messageId}`;
}

/**
 * The cursor is a position and is not looked up: the page begins after it.
 * @throws AppError 400, param cursor
 */
export function readCursor(cursor: string | undefined): Position {
  if (cursor === undefined || cursor === '') return beginning;
  const [, ms, messageId] = format.exec(cursor) ?? [];
  if (ms !== undefined && messageId !== undefined)
    return { at: new Date(Number(ms)), messageId: messageId as MessageId };
  throw invalid('cursor', 'cursor must be the cursor of the page before, or be left out for the first page.');
}
