import type { SearchQuery } from '#contract/search.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageRow } from '#server/messages/message.ts';
import { idMax, type MessageId, type TeamId } from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { searchCharactersMax, searchMessagesMax } from './limits.ts';
import { finds, type Search, tokensOfWay } from './parse-search.ts';
import { hashesOf, segmentMessagesMax } from './segment-signature.ts';
import { findLastSigned, listCandidates, listFound, listSearched, type Segment } from './segment-store.ts';

/** Segments of a page whose signatures may have the words; each is read. */
const candidatesMax = 40;

/** A message that was found, or at which the page stopped to read. */
interface Examined {
  readonly id: MessageId;
  readonly fits?: boolean;
  readonly is_bound?: boolean;
}

/**
 * Searches the messages of a team, newest first (specification section 4.3): those without a segment, then those of
 * segments whose signatures may have the words. A page reads a bounded number, as those of lists do (decision 0012).
 * @throws AppError 400, param cursor
 */
export async function searchMessages(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  search: Search,
  asked: Pick<SearchQuery, 'limit' | 'cursor'>,
): Promise<{
  readonly rows: readonly MessageRow[];
  readonly cursor: string;
  readonly has_more: boolean;
}> {
  const { rows: found, ...page } = await readPage('msg', asked, async (before, limit) => {
    const one = new PageSearch(pages, teamId, search, before, limit);
    await one.run();
    return one.examined;
  });
  const ids = found.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await listFound(pages, { teamId, ids });
  return { rows, ...page };
}

/** The search of one page. */
class PageSearch {
  readonly examined: Examined[] = [];
  readonly #db: Runtime['database']['pages'];
  readonly #teamId: TeamId;
  readonly #search: Search;
  readonly #limit: number;
  /** Messages with this id and greater ones were read. */
  #before: string;
  #messages = 0;
  #characters = 0;

  constructor(
    db: Runtime['database']['pages'],
    teamId: TeamId,
    search: Search,
    before: string,
    limit: number,
  ) {
    this.#db = db;
    this.#teamId = teamId;
    this.#search = search;
    this.#before = before;
    this.#limit = limit;
  }

  async run(): Promise<void> {
    const { last_id: first_id } = await findLastSigned(this.#db, { teamId: this.#teamId });
    const unsigned = { first_id, last_id: idMax };
    let read = 0;
    do {
      read = await this.#read(unsigned);
      if (this.#endsAt(this.#before)) return;
    } while (read === segmentMessagesMax);
    const hashesOfWay = (index: number) =>
      this.#search
        .slice(index, index + 1)
        .flatMap(tokensOfWay)
        .flatMap(hashesOf);
    const candidates = await listCandidates(this.#db, {
      teamId: this.#teamId,
      before: this.#before,
      hashes: hashesOfWay(0),
      others: hashesOfWay(1),
      limit: candidatesMax,
    });
    for (const [index, segment] of candidates.entries()) {
      if (segment.fits) await this.#read(segment);
      const isLast = segment.is_bound || index === candidatesMax - 1;
      if (this.#endsAt(segment.first_id, isLast)) return;
    }
  }

  /** Reads the next messages of a run. @returns their number */
  async #read({ first_id, last_id }: Segment): Promise<number> {
    const range = { first_id, last_id, before: this.#before, limit: segmentMessagesMax };
    const rows = await listSearched(this.#db, { teamId: this.#teamId, ...range });
    this.#before = rows.at(-1)?.id ?? this.#before;
    this.#messages += rows.length;
    this.#characters += rows.reduce((sum, { content }) => sum + content.length, 0);
    this.examined.push(...rows.filter((row) => finds(this.#search, row)).map(({ id }) => ({ id })));
    return rows.length;
  }

  /** Whether the page ends: it is full, or has read enough, down to `id`. */
  #endsAt(id: string, isLast = false): boolean {
    if (this.examined.length >= this.#limit) return true;
    if (!isLast && this.#messages < searchMessagesMax && this.#characters < searchCharactersMax) return false;
    this.examined.push({ id: id as MessageId, fits: false, is_bound: true });
    return true;
  }
}
