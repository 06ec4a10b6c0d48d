import { foundConversationsMax, type SearchQuery, type SearchResult } from '#contract/search.ts';
import { listContacts } from '#server/contacts/list-contacts.ts';
import {
  type ConversationKey,
  conversationOf,
  listFacts,
  type Reader,
  textOfKey,
  viewConversations,
} from '#server/dashboard/conversations/conversation-facts.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { viewLog } from '#server/messages/list-messages.ts';
import { namesDigitsOf, parseSearch } from '#server/messages/search/parse-search.ts';
import { searchMessages } from '#server/messages/search/search-messages.ts';
import { firstIdAt, idMax, type TeamId } from '#server/platform/ids.ts';

/** People whose conversations a search looks for. */
const contactsMax = 20;

/** SQL of the newest message with a handle. Row comparisons force the index of the column. */
const newestOf = (column: 'from_handle' | 'to_handle') =>
  `(SELECT m.direction, m.from_handle, m.to_handle FROM messages m
    WHERE (m.team_id, m.${column}, m.id) <= (:teamId, h.handle, '${idMax}') AND (m.team_id, m.${column}, m.id) >= (:teamId, h.handle, '${firstIdAt(0)}')
    ORDER BY m.team_id DESC, m.${column} DESC, m.id DESC LIMIT 1)`;

/** The newest messages that contacts sent and got, one each, by which their latest conversations are known. */
const listNewest = query<
  { teamId: TeamId; handles: readonly string[] },
  { direction: 'inbound' | 'outbound'; from_handle: string; to_handle: string }
>(
  'search.newest-of-handles',
  `SELECT m.direction, m.from_handle, m.to_handle FROM unnest(:handles::text[]) AS h (handle)
   CROSS JOIN LATERAL (${newestOf('from_handle')} UNION ALL ${newestOf('to_handle')}) m`,
).rows;

/**
 * Searches what people of a team see in Conversations: messages, and on the first page conversations by the contact's
 * name or last digits.
 * @throws AppError 400, param q or cursor
 */
export async function searchTeam(
  services: Runtime,
  teamId: TeamId,
  reader: Reader,
  { q, ...asked }: SearchQuery,
): Promise<SearchResult> {
  const search = parseSearch(q);
  const { rows, ...page } = await searchMessages(services, teamId, search, asked);
  const keys = rows.map(conversationOf);
  const byDigits = keys.filter(({ contact }) => namesDigitsOf(search, contact));
  return {
    conversations: asked.cursor
      ? []
      : await showConversations(services, teamId, reader, [
          ...(await listNamed(services, teamId, q)),
          ...byDigits,
        ]),
    messages: await viewLog(services, teamId, rows),
    ...page,
  };
}

/** The latest conversations with people whose names or numbers fit. */
async function listNamed(services: Runtime, teamId: TeamId, q: string): Promise<ConversationKey[]> {
  const { rows } = await listContacts(services, teamId, { query: q, limit: contactsMax });
  const handles = rows.flatMap((contact) => contact.handles);
  return (await listNewest(services.database.pages, { teamId, handles })).map(conversationOf);
}

async function showConversations(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  reader: Reader,
  found: readonly ConversationKey[],
): Promise<SearchResult['conversations']> {
  const distinct = [...new Map(found.map((key) => [textOfKey(key), key])).values()];
  const rows = await listFacts(pages, teamId, distinct.slice(0, foundConversationsMax), reader);
  return viewConversations(pages, teamId, rows);
}
