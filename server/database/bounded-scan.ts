/** A row of a bounded scan: it matches the filters (`fits`), or it is the last row that the page may read (`is_bound`). */
export interface Scanned {
  readonly fits: boolean;
  readonly is_bound: boolean;
}

/** The rows before a cursor, newest first in the order of an index. */
export interface ScannedRows {
  readonly alias: string;
  readonly rows: string;
  readonly order: string;
}

/**
 * SQL of a bounded scan: a page of rows along an index. Reading stops once the page is full, or after `examinedMax`
 * rows if few match. One statement returns both the matches and the last position, because rows that arrive between two
 * statements would shift the position.
 */
export function sqlBoundedScan(
  { alias, rows, order }: ScannedRows,
  columns: string,
  page: { readonly fits: string; readonly examinedMax: string | number; readonly limit: string },
): string {
  // The subqueries, from the inside: 1. the rows that the page may read; 2. which of them match, and which is the last
  // one; 3. the page.
  return `SELECT ${columns}, ${alias}.fits, ${alias}.is_bound
    FROM (SELECT ${alias}.*, row_number() OVER (ORDER BY ${order}) = ${page.examinedMax} AS is_bound, ${page.fits} AS fits
          FROM (${rows} ORDER BY ${order} LIMIT ${page.examinedMax}) ${alias}) ${alias}
    WHERE ${alias}.fits OR ${alias}.is_bound ORDER BY ${order} LIMIT ${page.limit}`;
}

/**
 * The rows of a table with `value` in a column, along the index (team, column, id). Row comparisons instead of
 * `column = value` force this index, whatever the statistics say; another index would read rows that do not match.
 */
export function sqlRowsAlong(
  table: string,
  alias: string,
  column: string,
  columns: string,
  [team, value, before]: readonly [team: string, value: string, before: string],
): ScannedRows {
  const position = `${alias}.team_id, ${alias}.${column}, ${alias}.id`;
  return {
    alias,
    order: `${alias}.team_id DESC, ${alias}.${column} DESC, ${alias}.id DESC`,
    rows: `SELECT ${columns} FROM ${table} ${alias}
      WHERE (${position}) < (${team}, ${value}, ${before}) AND ${alias}.id < ${before}
        AND (${position}) >= (${team}, ${value}, '00000000-0000-0000-0000-000000000000')`,
  };
}
