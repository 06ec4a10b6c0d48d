import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { type ChangeDeclaration, type ChangeRecorder, compileChangeDeclaration } from './change.ts';
import { rethrowPoolTimeout } from './pool-timeout.ts';

/** Runs statements: a pool, or a transaction's connection. */
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
  /** Calls `run` after this transaction's commit, and never after a rollback. `run` must not throw. */
  readonly afterCommit: (run: () => void) => void;
  /** Records a change, notified after this transaction's commit. Statements call it for their declared changes. */
  readonly recordChange: ChangeRecorder;
};

/** SQL with a unique name, prepared once per connection. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  rows(db: Queryable, ...values: readonly unknown[]): Promise<Row[]>;
  /** The first row, or undefined. */
  row(db: Queryable, ...values: readonly unknown[]): Promise<Row | undefined>;
}

interface Known {
  readonly text: string;
  readonly changes: readonly ChangeDeclaration<object, string>[];
}

const known = new Map<string, Known>();

/** Every statement of the process by name. Tests explain each one on large tables, and check its changes. */
export function allStatements(): ReadonlyMap<string, Known> {
  return known;
}

/**
 * @param changes the declared changes of visible resources: each is notified after the commit, so that no use case can
 * forget it. A run that touches no row has no change. If the statement ends in a SELECT, its touched rows are unknown,
 * and the change is always notified.
 */
export function statement<Row extends object>(
  name: string,
  text: string,
  ...changes: readonly ChangeDeclaration<Row>[]
): Statement<Row> {
  if (known.has(name)) throw new Error(`two statements are named ${name}`);
  known.set(name, { text, changes });
  const recorders = changes.map(compileChangeDeclaration);
  const rows = async (db: Queryable, ...values: readonly unknown[]) => {
    const asked = db.query<Row & QueryResultRow>({ name, text, values: [...values] });
    const result = await asked.catch(rethrowPoolTimeout);
    if (result.rowCount !== 0 || result.command === 'SELECT')
      for (const record of recorders) record(db.recordChange, values, result.rows);
    return result.rows;
  };
  return { name, text, rows, row: async (db, ...values) => (await rows(db, ...values))[0] };
}
