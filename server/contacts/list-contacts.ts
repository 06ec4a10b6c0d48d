import type { ListContactsQuery } from '#contract/contact.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { parseHandle } from './change-contact.ts';
import { findContact, findNames, listContactRows, searchContactRows, searchNewest } from './contact-store.ts';
import { wordsOfQuery } from './search-words.ts';

/** Lists the contacts of a team, newest first: all, the one that has a handle, or those that fit a query. */
export function listContacts({ database }: Runtime, teamId: TeamId, query: ListContactsQuery) {
  const { handle, query: text } = query;
  if (handle !== undefined && text !== undefined) throw invalid('query', 'Send handle or query, not both.');
  return readPage('con', query, async (before, limit) => {
    if (handle !== undefined) return findByHandle(handle, before);
    if (text === undefined) return listContactRows(database.pages, { teamId, before, limit });
    const terms = wordsOfQuery(text).flatMap((words, term) => words.map((word) => ({ word, term })));
    const last = terms.at(-1);
    if (!last) return [];
    const search = {
      teamId,
      words: terms.map(({ word }) => word),
      terms: terms.map(({ term }) => term),
      termCount: last.term + 1,
      before,
      limit,
    };
    const newest = await searchNewest(database.pages, search);
    return newest.length === limit ? newest : searchContactRows(database.pages, search);
  });

  async function findByHandle(written: string, before: string) {
    const normalized = parseHandle(written) ?? '';
    const owner = (await findNames(database.pages, teamId, [normalized])).get(normalized);
    const contact = owner && (await findContact(database.pages, { teamId, contactId: owner.id }));
    return contact && contact.id < before ? [contact] : [];
  }
}
