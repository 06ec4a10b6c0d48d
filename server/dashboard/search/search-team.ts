import { foundConversationsMax, type SearchQuery, type SearchResult } from '#contract/search.ts';
import {
  type ConversationKey,
  conversationOf,
  conversationView,
  listFacts,
  type Reader,
  textOfKey,
} from '#server/dashboard/conversations/conversation-facts.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { viewLog } from '#server/messages/list-messages.ts';
import { namesDigitsOf, parseSearch } from '#server/messages/search/parse-search.ts';
import { searchMessages } from '#server/messages/search/search-messages.ts';
import { findSenders } from '#server/messages/senders.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { foldForSearch, wordsOf } from '#server/platform/search-words.ts';

/** People whose conversations a search looks for, and words of names that it compares. */
const contactsMax = 20;
const wordsExaminedMax = 1_000;

/** The handles of people whose names have words with all of these beginnings. */
const listNamedHandles = query<
  { teamId: TeamId; words: readonly string[]; limit: number },
  { handle: string }
>(
  'search.named-handles',
  `SELECT h.handle FROM (
     SELECT w.contact_id FROM (
       SELECT w.contact_id FROM contact_words w
       WHERE w.team_id = :teamId AND w.word >= (:words::text[])[1] AND w.word < (:words::text[])[1] || U&'\\FFFF'
       ORDER BY w.team_id, w.word, w.contact_id LIMIT ${wordsExaminedMax}
     ) w
     WHERE NOT EXISTS (
       SELECT FROM unnest(:words::text[]) AS o (word) WHERE NOT EXISTS (
         SELECT FROM contact_words x WHERE x.team_id = :teamId AND x.contact_id = w.contact_id AND starts_with(x.word, o.word) OFFSET 0))
     LIMIT :limit
   ) w
   CROSS JOIN LATERAL (SELECT h.handle FROM contact_handles h WHERE h.team_id = :teamId AND h.contact_id = w.contact_id OFFSET 0) h`,
).rows;

/** The newest messages that contacts sent and got, one each, by which their latest conversations are known. */
const listNewest = query<
  { teamId: TeamId; handles: readonly string[] },
  { direction: 'inbound' | 'outbound'; from_handle: string; to_handle: string }
>(
  'search.newest-of-handles',
  `SELECT m.direction, m.from_handle, m.to_handle FROM unnest(:handles::text[]) AS h (handle) CROSS JOIN LATERAL (
     (SELECT m.direction, m.from_handle, m.to_handle FROM messages m
      WHERE m.team_id = :teamId AND m.from_handle = h.handle ORDER BY m.team_id DESC, m.from_handle DESC, m.id DESC LIMIT 1)
     UNION ALL
     (SELECT m.direction, m.from_handle, m.to_handle FROM messages m
      WHERE m.team_id = :teamId AND m.to_handle = h.handle ORDER BY m.team_id DESC, m.to_handle DESC, m.id DESC LIMIT 1)
   ) m`,
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
      : await viewConversations(services, teamId, reader, [
          ...(await listNamed(services, teamId, q)),
          ...byDigits,
        ]),
    messages: await viewLog(services, teamId, rows),
    ...page,
  };
}

/** The latest conversations with people of a name. */
async function listNamed({ database: { pages } }: Runtime, teamId: TeamId, q: string) {
  const words = wordsOf(foldForSearch(q)).sort((one, other) => other.length - one.length);
  const named = await listNamedHandles(pages, { teamId, words, limit: contactsMax });
  const handles = named.map(({ handle }) => handle);
  return (await listNewest(pages, { teamId, handles })).map(conversationOf);
}

async function viewConversations(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  reader: Reader,
  found: readonly ConversationKey[],
): Promise<SearchResult['conversations']> {
  const distinct = [...new Map(found.map((key) => [textOfKey(key), key])).values()];
  const facts = await listFacts(pages, teamId, distinct.slice(0, foundConversationsMax), reader);
  const senders = await findSenders(
    pages,
    teamId,
    facts.map((row) => row.sent_by),
  );
  return facts.map((row) => conversationView(row, senders.get(row.sent_by)));
}
