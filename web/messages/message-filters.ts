import type { Message, MessageLog, MessageStatus } from '#contract/message.ts';

/** Filters of the log, as they stand in the address. */
export interface MessageFilters {
  readonly status?: MessageStatus | undefined;
  readonly direction?: 'inbound' | 'outbound' | undefined;
  /** A side of the message: a contact or a number of the team, as messages show it. */
  readonly contact?: string | undefined;
}

export function fitsFilters(
  { status, direction, from, to }: Pick<Message, 'status' | 'direction' | 'from' | 'to'>,
  filters: MessageFilters,
): boolean {
  return (
    (!filters.status || status === filters.status) &&
    (!filters.direction || direction === filters.direction) &&
    (!filters.contact || from === filters.contact || to === filters.contact)
  );
}

/** Only phone numbers are recipients. */
const isPhoneNumber = (handle: string) => /^\+[1-9]\d{6,14}$/.test(handle);

/** The reads of the API whose messages make up the log: it finds a side either as the sender or as the recipient. */
export function sourcesOf({
  contact,
}: MessageFilters): readonly { readonly from?: string; readonly to?: string }[] {
  if (!contact) return [{}];
  return isPhoneNumber(contact) ? [{ from: contact }, { to: contact }] : [{ from: contact }];
}

/**
 * Merges pages that were read from the same cursor. A cursor is a position: where a page ends early, what is older
 * than that in the others belongs to the next page.
 */
export function mergeSources(pages: readonly MessageLog[]): MessageLog {
  const [only] = pages;
  if (only && pages.length === 1) return only;
  const ends = pages.flatMap((page) => (page.has_more ? [page.cursor] : []));
  const end = ends.toSorted().at(-1) ?? '';
  const byId = new Map(pages.flatMap((page) => page.messages.map((message) => [message.id, message])));
  const messages = [...byId.values()]
    .filter(({ id }) => id >= end)
    .toSorted((one, other) => (one.id > other.id ? -1 : 1));
  return { messages, cursor: end || (messages.at(-1)?.id ?? ''), has_more: ends.length > 0 };
}
