import { type TypedSearch, textOf } from '#web/api/search-parameters.ts';

/** Filters of the list of conversations, stored in the page's address. */
export interface ConversationFilters {
  /** A number of the team; undefined for all numbers. */
  readonly number?: string;
  readonly unread?: boolean;
}

export const readConversationFilters = ({ number, unread }: TypedSearch): ConversationFilters => ({
  number: textOf(number),
  unread: unread === true || undefined,
});
