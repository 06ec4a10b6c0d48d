import type { ListedMessage, MessageStatus } from '#contract/message.ts';

/** A page of messages, newest first. Their ids sort by time. */
export interface MessagePage {
  readonly messages: readonly ListedMessage[];
  readonly cursor: string;
  readonly has_more: boolean;
}

/** Ranks of statuses: a message never gets a lower one, whatever the order in which its states arrive. */
const progress: Readonly<Record<MessageStatus, number>> = {
  queued: 0,
  polling: 0,
  sent: 1,
  failed: 1,
  delivered: 2,
  received: 2,
};

/** Returns the later one of two states of a message, because a row of the live stream may be older than the page. */
export function laterOf<Row extends Pick<ListedMessage, 'status'>>(before: Row, row: Row): Row {
  return progress[row.status] < progress[before.status] ? before : row;
}

/**
 * Merges rows into the loaded pages. It replaces changed messages, inserts new ones, and removes those that the filters
 * exclude now. A message older than the pages belongs to a page that is not loaded.
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
