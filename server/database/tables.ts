import type { ClientBase } from 'pg';
import type { Transaction } from './query.ts';
import { schemaFiles, type TableDeclaration, tableDeclarations } from './table-declaration.ts';

const tablesSql = `
  SELECT c.oid::int8 AS oid, c.relname AS name,
    (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    coalesce((SELECT array_agg(DISTINCT f.confrelid::int8) FROM pg_constraint f
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND NOT f.condeferrable AND f.confrelid <> c.oid), '{}') AS refers_to
  FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1)
  ORDER BY c.relname`;

/** A table, and its columns except generated ones. */
interface Table {
  readonly name: string;
  readonly columns: string[];
}

interface Sequence {
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

interface TableRow extends Table {
  readonly oid: number;
  /** The tables that this table's foreign keys refer to, except by deferrable keys. */
  readonly refers_to: readonly (number | string)[];
}

/** A table with what its SQL file declares. */
export interface DeclaredTable extends Table {
  readonly declaration: TableDeclaration;
}

/**
 * The tables of a backup, in an order in which a restore can load them without violating a foreign key. A restore
 * defers deferrable keys and triggers, so the order ignores these (decision 0037).
 * @throws Error if the foreign keys form a cycle
 */
export async function listBackupTables(client: ClientBase): Promise<Table[]> {
  return (await listTables(client)).flatMap(({ name, columns, declaration }) =>
    declaration.isInBackups ? { name, columns } : [],
  );
}

/** The tables of the schema, each after those that its foreign keys refer to. Tables of another program are left out. */
export async function listTables(client: ClientBase): Promise<DeclaredTable[]> {
  const { rows } = await client.query<TableRow>(tablesSql, [[...tableDeclarations.keys()]]);
  const left = new Map(rows.map((row) => [Number(row.oid), row]));
  const ordered: DeclaredTable[] = [];
  while (left.size > 0) {
    const ready = [...left.values()].filter((row) => row.refers_to.every((oid) => !left.has(Number(oid))));
    if (ready.length === 0) throw circle(left);
    for (const { oid, name, columns } of ready) {
      left.delete(Number(oid));
      const declaration = tableDeclarations.get(name);
      if (declaration) ordered.push({ name, columns, declaration });
    }
  }
  return ordered;
}

/** @param left the tables that have no order: those in a cycle of foreign keys, and those that refer to such a table */
function circle(left: ReadonlyMap<number, TableRow>): Error {
  let inCircle = [...left.values()];
  for (let count = 0; count !== inCircle.length; ) {
    count = inCircle.length;
    const referred = new Set(inCircle.flatMap(({ refers_to }) => refers_to.map(Number)));
    inCircle = inCircle.filter(({ oid }) => referred.has(Number(oid)));
  }
  const names = inCircle.map(({ name }) => name).join(', ');
  return new Error(
    `The foreign keys of the tables ${names} form a circle, so no order loads them. Make one of these keys DEFERRABLE: a ` +
      'restore checks such a key after the last row.',
  );
}

const sequenceNames = schemaFiles
  .flatMap((sql) => [...sql.matchAll(/^CREATE SEQUENCE (\w+)/gm)].map(([, name = '']) => name))
  .sort();

/**
 * Reads the values of the schema's sequences, which no snapshot covers. They are read after the snapshot was taken, so
 * they are never lower than a number in its rows.
 */
export async function readSequences(client: ClientBase): Promise<Sequence[]> {
  const sequences: Sequence[] = [];
  for (const name of sequenceNames) {
    const { rows } = await client.query<{ last_value: string; is_called: boolean }>(
      `SELECT last_value::text, is_called FROM ${quoteName(name)}`,
    );
    for (const { last_value, is_called } of rows) sequences.push({ name, last_value, is_called });
  }
  return sequences;
}

export async function hasRows(client: Pick<ClientBase, 'query'>, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM ${quoteName(table)}) AS found`,
  );
  return rows[0]?.found === true;
}

/**
 * Collects the planner's statistics of a table that has rows. Plans for a table that was analyzed without rows expect
 * none: they would read all rows that come later, until the next analysis (decision 0050).
 */
export async function analyzeFilled(client: Pick<ClientBase, 'query'>, table: string): Promise<void> {
  if (await hasRows(client, table)) await client.query(`ANALYZE ${quoteName(table)}`);
}

/**
 * Quotes an SQL name. The names come from PostgreSQL's catalogue, or from the manifest of a backup, which may be
 * forged.
 */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Inserts made-up rows of a table in one statement. Columns that no row has get their defaults. PostgreSQL reads the
 * values from JSON: a time is a text, and bytes are a text such as `\x00ff`.
 */
export async function insertRows(trx: Transaction, table: string, rows: readonly object[]): Promise<void> {
  const columns = [...new Set(rows.flatMap(Object.keys))].map(quoteName).join(', ');
  const name = quoteName(table);
  await trx.query(
    `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, $1)`,
    [JSON.stringify(rows)],
  );
}

export function columnList({ columns }: Pick<Table, 'columns'>): string {
  return columns.map(quoteName).join(', ');
}
