import { listLimitDefault } from '#contract/paging.ts';
import { type AppError, invalid } from './app-error.ts';
import { type Id, type IdPrefix, idMax, parseId, publicId } from './ids.ts';

interface PageQuery {
  readonly limit?: number;
  /** The cursor of the previous page; empty or left out for the first page. */
  readonly cursor?: string;
}

/** A row that a statement read for a page. A statement without filters leaves out `fits` and `is_bound`. */
interface ReadRow<P extends IdPrefix> {
  readonly id: Id<P>;
  /** Whether the row matches the filters. */
  readonly fits?: boolean;
  /**
   * Whether reading stopped at this row, because a page examines a limited number of rows; older rows belong to the
   * next page.
   */
  readonly is_bound?: boolean;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; empty on an empty last page. */
  readonly cursor: string;
  readonly has_more: boolean;
}

/**
 * Pager: reads a page of rows, newest first by id. A cursor is a position, so its row need not exist any more.
 * @param read returns the newest rows with ids below `before`: at most `limit`, and the row at which reading stopped
 * @throws AppError 400, param cursor, if the cursor is no id with that prefix
 */
export async function readPage<P extends IdPrefix, Row extends ReadRow<P>>(
  prefix: P,
  { limit = listLimitDefault, cursor = '' }: PageQuery,
  read: (before: string, limit: number) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const rows = await read(parseCursor(prefix, cursor), limit + 1);
  return pageOfIds(prefix, rows, limit);
}

/** Reads the cursor of a page. @returns the id before which the page begins */
export function parseCursor(prefix: IdPrefix, cursor: string): string {
  if (cursor === '') return idMax;
  const id = parseId(prefix, cursor);
  if (id === undefined) throw invalidCursor();
  return id;
}

export function invalidCursor(): AppError {
  return invalid(
    'cursor',
    'cursor must be the cursor of the page before, or be left out for the first page.',
  );
}

/** Cuts a page from rows that are newest first by id. The caller has read one row more than `limit`. */
export function pageOfIds<P extends IdPrefix, Row extends ReadRow<P>>(
  prefix: P,
  read: readonly Row[],
  limit: number,
): Page<Row> {
  const bound = read.find((row) => row.is_bound);
  const fitting = read.filter(({ id, fits = true }) => fits && (bound === undefined || id >= bound.id));
  const { rows, last, has_more } = cutPage(fitting, limit, bound);
  return { rows, cursor: last ? publicId(prefix, last.id) : '', has_more };
}

/**
 * Cuts a page from rows in order. The caller has read one row more than `limit`.
 * @param bound the row at which reading stopped, if it stopped before the end
 * @returns `last`: the row after which the next page begins; undefined for an empty last page
 */
export function cutPage<Row>(
  read: readonly Row[],
  limit: number,
  bound?: Row,
): { readonly rows: readonly Row[]; readonly last: Row | undefined; readonly has_more: boolean } {
  const rows = read.slice(0, limit);
  const isFull = rows.length === limit;
  return {
    rows,
    last: isFull ? rows.at(-1) : (bound ?? rows.at(-1)),
    has_more: read.length > limit || bound !== undefined,
  };
}
