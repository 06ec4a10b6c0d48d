import { Type } from 'typebox';
import { Conversation } from './conversation.ts';
import { ListedMessage } from './message.ts';
import { pageFields, pageQuery } from './paging.ts';
import { strictObject } from './schema.ts';

/** The shortest word or number for which a search looks. */
export const searchMinCharacters = 3;

/** Conversations that a search of the dashboard finds by name or last digits. */
export const foundConversationsMax = 8;

/** GET /v1/messages/search, GET /app/teams/:team_id/search */
export const SearchQuery = strictObject({
  q: Type.String({
    minLength: 1,
    maxLength: 100,
    description: `Words, or their beginnings, that a message has all of; one has at least ${searchMinCharacters} characters. The numbers among them, taken together, may also be the last digits of the contact’s phone number. Case and accents do not matter.`,
  }),
  ...pageQuery('messages'),
});
export type SearchQuery = Type.Static<typeof SearchQuery>;

/** GET /app/teams/:team_id/search: what people find in Conversations. */
export const SearchResult = strictObject({
  conversations: Type.Array(Conversation, {
    description: `On the first page: at most ${foundConversationsMax} conversations, found by the contact’s name or the last digits.`,
  }),
  messages: Type.Array(ListedMessage, { description: 'Newest first.' }),
  ...pageFields('msg'),
});
export type SearchResult = Type.Static<typeof SearchResult>;
