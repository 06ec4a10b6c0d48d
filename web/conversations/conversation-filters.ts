import { type TypedSearch, textOf } from '#web/api/search-parameters.ts';

export const views = ['waiting', 'all', 'unread'] as const;
export type ConversationView = (typeof views)[number];

/** Filters of the list of conversations, stored in the page's address. */
export interface ConversationFilters {
  /** A number of the team; undefined for all numbers. */
  readonly number?: string;
  /** undefined: what waits, for people who may answer; all conversations for others. */
  readonly view?: ConversationView;
  /** A text that is searched: the results replace the list. */
  readonly q?: string;
}

export const readConversationFilters = ({ number, view, q }: TypedSearch): ConversationFilters => ({
  number: textOf(number),
  q: textOf(q),
  view: views.find((one) => one === view),
});
