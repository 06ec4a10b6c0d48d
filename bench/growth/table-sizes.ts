import type pg from 'pg';

/** Bytes of a table; a partitioned table is the sum of its months. */
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

/** A month's partition counts under the name of its history table. */
const sqlTables = `
  SELECT c.oid, regexp_replace(c.relname, '_(default|[0-9]{4}_[0-9]{2})$', '') AS name
  FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`;

/** Sizes of all tables and indexes by name. Those of a month's partition count for its history table. */
export async function readSizes(pool: pg.Pool): Promise<Sizes> {
  const tables = await pool.query<TableSize>(
    `SELECT name, sum(pg_table_size(oid))::float8 AS heap, sum(pg_indexes_size(oid))::float8 AS indexes,
       (sum(pg_stat_get_tuples_hot_updated(oid)) / nullif(sum(pg_stat_get_tuples_updated(oid)), 0))::float8 AS in_place
     FROM (${sqlTables}) t GROUP BY name`,
  );
  const indexes = await pool.query<IndexSize>(
    `SELECT t.name AS table, coalesce(parent.relname, i.relname) AS name, sum(pg_relation_size(i.oid))::float8 AS bytes
     FROM (${sqlTables}) t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
     LEFT JOIN pg_inherits h ON h.inhrelid = i.oid LEFT JOIN pg_class parent ON parent.oid = h.inhparent
     GROUP BY 1, 2`,
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
