import { MessageList, MessageLog } from '#contract/message.ts';
import { SearchQuery } from '#contract/search.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { viewLog } from '#server/messages/list-messages.ts';
import { messageView } from '#server/messages/message.ts';
import { searchMessagesExamples } from '#server/messages/route-examples.ts';
import { parseSearch } from './parse-search.ts';
import { searchMessages } from './search-messages.ts';

export function searchRoutes(services: Runtime): Route[] {
  return [
    route('GET /v1/messages/search', {
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'searchMessages',
        tag: 'Messages',
        summary: 'Search messages',
        description:
          'Finds messages by the beginnings of words in their texts, or by the last digits of the contact’s phone number, newest first. `q=tab+tomorrow` finds “Your table is ready tomorrow.”\n\nThe search reads the first 5,000 characters of each text. A page reads a bounded number of messages, so it can be short or empty while `has_more` is true. Read on as in the list of messages.',
        examples: searchMessagesExamples,
      },
      query: SearchQuery,
      answers: { 200: MessageList },
      handle: async ({ principal: { teamId }, query }) => {
        const { rows, ...page } = await searchMessages(services, teamId, parseSearch(query.q), query);
        return { body: { messages: rows.map(messageView), ...page } };
      },
      ofMembers: {
        answers: { 200: MessageLog },
        handle: async ({ principal: { teamId }, query }) => {
          const { rows, ...page } = await searchMessages(services, teamId, parseSearch(query.q), query);
          return { body: { messages: await viewLog(services, teamId, rows), ...page } };
        },
      },
    }),
  ];
}
