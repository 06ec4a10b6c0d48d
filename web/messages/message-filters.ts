import type { MessageLog, MessageStatus } from '#contract/message.ts';

/** Filters of the message log, stored in the page's address. */
export interface MessageFilters {
  readonly status?: MessageStatus | undefined;
  readonly direction?: 'inbound' | 'outbound' | undefined;
  /** The sender or the recipient, a contact or a number of the team; or words of texts, or last digits. */
  readonly contact?: string | undefined;
}

/** The API's filter by recipient accepts only phone numbers. */
const isPhoneNumber = (handle: string) => /^\+[1-9]\d{6,14}$/.test(handle);

/** The API requests that make up the log. The API filters by sender or by recipient, so a contact needs both. */
export function sourcesOf({
  contact,
}: MessageFilters): readonly { readonly from?: string; readonly to?: string }[] {
  if (!contact) return [{}];
  return isPhoneNumber(contact) ? [{ from: contact }, { to: contact }] : [{ from: contact }];
}

/** Whether a text is searched as well, because it is no complete number or address. */
export const isSearched = (text = ''): boolean =>
  [...text].length >= 3 && !isPhoneNumber(text) && !text.includes('@');

/**
 * Merges pages of several sources that were read from one cursor. The merged page ends at the earliest end of these
 * pages; older messages belong to the next page.
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
