import type { Pool, PoolClient, QueryResultRow } from 'pg';

/** Where a statement can run: a pool, or the connection of a transaction. */
export type Queryable = Pool | PoolClient | Transaction;

/** A connection with an open transaction. Store functions that lock take this and nothing else. */
export type Transaction = PoolClient & {
  readonly transaction: true;
  /**
   * Tells every process once this has committed, and nobody where it rolls back. Said by the connection that says all of
   * them (Notifier): a commit that notifies by itself waits for every other one that does.
   */
  readonly notifyAfterCommit: (channel: string, ids?: Iterable<string>) => void;
};

/** SQL with a name, prepared once per connection. Names are unique; tests walk the list of all. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  rows(db: Queryable, ...values: readonly unknown[]): Promise<Row[]>;
  /** The first row, or undefined. */
  row(db: Queryable, ...values: readonly unknown[]): Promise<Row | undefined>;
}

const known = new Map<string, string>();

/** Every statement of the process by name: what the test that explains them at size walks. */
export function allStatements(): ReadonlyMap<string, string> {
  return known;
}

export function statement<Row extends object>(name: string, text: string): Statement<Row> {
  if (known.has(name)) throw new Error(`two statements are named ${name}`);
  known.set(name, text);
  const rows = async (db: Queryable, ...values: readonly unknown[]) => {
    const result = await db.query<Row & QueryResultRow>({ name, text, values: [...values] });
    return result.rows;
  };
  return { name, text, rows, row: async (db, ...values) => (await rows(db, ...values))[0] };
}
