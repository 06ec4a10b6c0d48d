import type { ListedMessage, MessageStatus } from '#contract/message.ts';

/** A page of messages, newest first. Ids sort by time, so they give the order. */
export interface MessagePage {
  readonly messages: readonly ListedMessage[];
  /** The position at which it ends. */
  readonly cursor: string;
  readonly has_more: boolean;
}

/** How far a message is. A phone may take one twice and report a failure late, so only these steps are never taken back. */
const progress: Readonly<Record<MessageStatus, number>> = {
  queued: 0,
  polling: 0,
  sent: 1,
  failed: 1,
  delivered: 2,
  received: 2,
};

/** The later state of a message: a row of the stream may come after a page that was read later. */
export function laterOf<Row extends Pick<ListedMessage, 'status'>>(before: Row, row: Row): Row {
  return progress[row.status] < progress[before.status] ? before : row;
}

/**
 * Puts rows into pages that were read. Changed ones replace their message, new ones are sorted in, and those that fit
 * no more are left out. A row that is older than the pages belongs to one that was not read.
 */
export function mergeMessages<Page extends MessagePage>(
  pages: readonly Page[],
  rows: readonly ListedMessage[],
  fits: (message: ListedMessage) => boolean,
): Page[] {
  const known = new Map(pages.flatMap((page) => page.messages.map((message) => [message.id, message])));
  const latest = rows.map((row) => laterOf(known.get(row.id) ?? row, row));
  const byId = new Map(latest.map((row) => [row.id, row]));
  let added = latest.filter((row) => !known.has(row.id) && fits(row));
  return pages.map((page) => {
    const isOfPage = (row: ListedMessage) => row.id > page.cursor || !page.has_more;
    const own = added.filter(isOfPage);
    added = added.filter((row) => !isOfPage(row));
    const kept = page.messages.map((message) => byId.get(message.id) ?? message).filter(fits);
    return { ...page, messages: own.length === 0 ? kept : newestFirst([...own, ...kept]) };
  });
}

function newestFirst<Row extends Pick<ListedMessage, 'id'>>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => (one.id > other.id ? -1 : 1));
}
