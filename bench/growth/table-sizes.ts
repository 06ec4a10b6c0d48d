import type pg from 'pg';

/** Bytes of a table. */
interface TableSize {
  readonly name: string;
  /** Bytes with TOAST and the free space map. */
  readonly heap: number;
  readonly indexes: number;
  /**
   * Share of updates that wrote to no index, because the table page of the row had room for the new version (HOT
   * updates).
   */
  readonly in_place: number | null;
}

interface IndexSize {
  readonly table: string;
  readonly name: string;
  readonly bytes: number;
}

export interface Sizes {
  readonly tables: ReadonlyMap<string, TableSize>;
  readonly indexes: ReadonlyMap<string, IndexSize>;
}

const sqlTables = `
  SELECT c.oid, c.relname AS name FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`;

/** Sizes of all tables and indexes by name. */
export async function readSizes(pool: pg.Pool): Promise<Sizes> {
  const tables = await pool.query<TableSize>(
    `SELECT name, pg_table_size(oid)::float8 AS heap, pg_indexes_size(oid)::float8 AS indexes,
       pg_stat_get_tuples_hot_updated(oid)::float8 / nullif(pg_stat_get_tuples_updated(oid), 0) AS in_place
     FROM (${sqlTables}) t`,
  );
  const indexes = await pool.query<IndexSize>(
    `SELECT t.name AS table, i.relname AS name, pg_relation_size(i.oid)::float8 AS bytes
     FROM (${sqlTables}) t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid`,
  );
  return {
    tables: new Map(tables.rows.map((size) => [size.name, size])),
    indexes: new Map(indexes.rows.map((size) => [size.name, size])),
  };
}

/** Rewrites all tables without dead rows and free pages. */
export async function rewriteTables(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ table: string }>(
    `SELECT t.oid::regclass::text AS table FROM (${sqlTables}) t`,
  );
  for (const { table } of rows) await pool.query(`VACUUM FULL ${table}`);
}
