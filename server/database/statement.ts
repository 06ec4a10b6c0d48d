import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { type ChangeDeclaration, type ChangeRecorder, compileChangeDeclaration } from './change.ts';

/** Something that runs statements: a pool, or a transaction's connection. */
export type Queryable = ChangeRecordingPool | Transaction;

/** A pool that records the declared changes of its successful statements. */
export type ChangeRecordingPool = Pool & { readonly recordChange: ChangeRecorder };

/** A connection with an open transaction. Store functions that lock accept only this. */
export type Transaction = PoolClient & {
  readonly transaction: true;
  /**
   * Notifies every process after this transaction's commit, and none after a rollback. NotifySender's single connection
   * sends it, because transactions that call NOTIFY themselves wait for each other at the commit.
   */
  readonly notifyAfterCommit: (channel: string, ids?: Iterable<string>) => void;
  /** Calls `run` once this transaction has committed; after a rollback `run` is not called. `run` must not throw. */
  readonly afterCommit: (run: () => void) => void;
  /** Records a change, notified after this transaction's commit. Statements call it for their declared changes. */
  readonly recordChange: ChangeRecorder;
};

/** SQL with a unique name, prepared once per connection. `Params` are the types of $1, $2 and so on. */
export interface Statement<Params extends readonly unknown[], Row, Db = Queryable> {
  readonly name: string;
  readonly text: string;
  readonly rows: (db: Db, ...params: Params) => Promise<Row[]>;
  /** The first row, or undefined. */
  readonly row: (db: Db, ...params: Params) => Promise<Row | undefined>;
  /** Whether the statement returned or changed a row. */
  readonly hasRow: (db: Db, ...params: Params) => Promise<boolean>;
  /** The number of rows that the statement returned or changed. */
  readonly count: (db: Db, ...params: Params) => Promise<number>;
  /** Runs the statement and ignores its rows. */
  readonly run: (db: Db, ...params: Params) => Promise<void>;
}

/** The row of a statement that returns none. */
type NoRow = Record<string, never>;

interface Known {
  readonly text: string;
  readonly changes: readonly ChangeDeclaration<object, string>[];
}

const known = new Map<string, Known>();

/** Every statement of the process by name. Tests run EXPLAIN on each one with large tables, and check its changes. */
export function allStatements(): ReadonlyMap<string, Known> {
  return known;
}

/**
 * Defines a statement. Stores export its methods as functions: `statement<[TeamId], TeamRow>('teams.find', …).row`.
 * @param changes the declared changes of visible resources: each is notified after the commit, so that no use case can
 * forget it. A run that touches no row has no change. If the statement ends in a SELECT, its touched rows are unknown,
 * and the change is always notified.
 */
export function statement<Params extends readonly unknown[] = [], Row extends object = NoRow>(
  name: string,
  text: string,
  ...changes: readonly ChangeDeclaration<Row>[]
): Statement<Params, Row> {
  if (known.has(name)) throw new Error(`two statements are named ${name}`);
  known.set(name, { text, changes });
  const recorders = changes.map(compileChangeDeclaration);
  const result = async (db: Queryable, params: Params) => {
    const values = [...params];
    const found = await db.query<Row & QueryResultRow>({ name, text, values });
    if (found.rowCount !== 0 || found.command === 'SELECT')
      for (const record of recorders) record(db.recordChange, values, found.rows);
    return found;
  };
  return {
    name,
    text,
    rows: async (db, ...params) => (await result(db, params)).rows,
    row: async (db, ...params) => (await result(db, params)).rows[0],
    hasRow: async (db, ...params) => (await result(db, params)).rowCount !== 0,
    count: async (db, ...params) => (await result(db, params)).rowCount ?? 0,
    run: async (db, ...params) => void (await result(db, params)),
  };
}

/** Defines a statement that runs only inside a transaction, because it locks rows or is one step of several. */
export function transactionStatement<Params extends readonly unknown[] = [], Row extends object = NoRow>(
  name: string,
  text: string,
  ...changes: readonly ChangeDeclaration<Row>[]
): Statement<Params, Row, Transaction> {
  return statement<Params, Row>(name, text, ...changes);
}
