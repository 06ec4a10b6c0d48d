/** A page of a list, newest first. */
export interface ListPage {
  readonly cursor: string;
  readonly has_more: boolean;
}

/** The loaded rows of a list, newest first and without a gap. */
export interface LoadedList<Page, Row> {
  /** The newest page, with its other fields. */
  readonly newest: Page;
  readonly rows: readonly Row[];
  /** The cursor at which older rows continue. */
  readonly cursor: string;
  readonly hasMore: boolean;
  /** Whether rows that leave the newest page stay loaded. */
  readonly isLong: boolean;
  /** The time at which the oldest of the rows were read. */
  readonly readAtMs: number;
}

/** How a list is read. */
export interface ListSource<Page extends ListPage, Row> {
  /** Reads the page at a cursor, which is '' for the newest page. */
  readonly read: (cursor: string, signal?: AbortSignal) => Promise<Page>;
  readonly rowsOf: (page: Page) => readonly Row[];
  /** Whether a row comes after the page that ends at a cursor. */
  readonly isOlder: (row: Row, cursor: string) => boolean;
  /** True if rows stay loaded even before a person loads older pages. */
  readonly isLong?: boolean;
}

/** Orders rows by id: ids sort by time, and a cursor is an id. */
export const isOlderId = ({ id }: { readonly id: string }, cursor: string) => id < cursor;

/** All rows of a list with older pages are read again after this time. Until then a read costs one page. */
const wholeMs = 30_000;

/** A list with more rows is not read as a whole, because it would cost too many requests. */
const wholeRowsMax = 1_000;

/**
 * Reads the newest page of a list again, and from time to time its older pages, too.
 * @param loaded returns the rows that are loaded now; pages may be added during the read
 */
export async function readList<Page extends ListPage, Row>(
  source: ListSource<Page, Row>,
  loaded: () => LoadedList<Page, Row> | undefined,
  nowMs: number,
  signal?: AbortSignal,
): Promise<LoadedList<Page, Row>> {
  const before = loaded();
  const oldest = before?.isLong ? before.rows.at(-1) : undefined;
  const isWholeDue = before && nowMs - before.readAtMs >= wholeMs && before.rows.length <= wholeRowsMax;
  const newest = await source.read('', signal);
  let list = beginList(source, newest, nowMs);
  while (isWholeDue && oldest && list.hasMore && source.isOlder(oldest, list.cursor))
    list = withOlder(source, list, list.cursor, await source.read(list.cursor, signal));
  return withNewest(source, loaded(), list);
}

function beginList<Page extends ListPage, Row>(
  { rowsOf, isLong = false }: ListSource<Page, Row>,
  newest: Page,
  readAtMs: number,
): LoadedList<Page, Row> {
  return { newest, rows: rowsOf(newest), cursor: newest.cursor, hasMore: newest.has_more, isLong, readAtMs };
}

/**
 * Puts the rows that were read in front of the older rows of a long list. After a gap the older rows are dropped,
 * because the rows in between are not loaded.
 */
function withNewest<Page extends ListPage, Row>(
  { isOlder }: ListSource<Page, Row>,
  before: LoadedList<Page, Row> | undefined,
  read: LoadedList<Page, Row>,
): LoadedList<Page, Row> {
  const [newestKnown] = before?.rows ?? [];
  if (!before?.isLong || newestKnown === undefined || !read.hasMore || isOlder(newestKnown, read.cursor))
    return read;
  const older = before.rows.filter((row) => isOlder(row, read.cursor));
  if (older.length === 0) return read;
  return { ...before, newest: read.newest, rows: [...read.rows, ...older] };
}

/** Appends the page that was read from a cursor. A list whose cursor has changed since then stays as it is. */
export function withOlder<Page extends ListPage, Row>(
  { rowsOf }: ListSource<Page, Row>,
  before: LoadedList<Page, Row>,
  from: string,
  page: Page,
): LoadedList<Page, Row> {
  if (before.cursor !== from) return before;
  const rows = [...before.rows, ...rowsOf(page)];
  return { ...before, rows, cursor: page.cursor, hasMore: page.has_more, isLong: true };
}
