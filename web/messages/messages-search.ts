import { keyOf, type TypedSearch, textOf } from '#web/api/search-parameters.ts';
import type { MessageFilters } from './message-filters.ts';
import { statusTones } from './message-statuses.ts';

/** Search parameters of the page: filters, and the message whose details are open. */
export interface MessagesSearch extends MessageFilters {
  readonly message?: string | undefined;
}

export const readMessagesSearch = ({ status, direction, contact, message }: TypedSearch): MessagesSearch => ({
  status: keyOf(statusTones, status),
  direction: direction === 'inbound' || direction === 'outbound' ? direction : undefined,
  contact: textOf(contact),
  message: textOf(message),
});
