import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { type ChangeDeclaration, type ChangeRecorder, compileChangeDeclaration } from './change.ts';

/** Something that runs statements: a pool, or a transaction's connection. */
export type Queryable = ChangeRecordingPool | Transaction;

/** A pool that records the declared changes of its successful statements. */
export type ChangeRecordingPool = Pool & { readonly recordChange: ChangeRecorder };

/**
 * SQLSTATE of a connection that PostgreSQL ends, as in a switchover. It is an error only before the commit, and aborts it;
 * a connection that ends later has no error. So a pool runs the statement once more.
 */
const endedCode = '57P01';

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

/** The parameters of a run: an object with a field for each name in the text, or nothing if the text has no names. */
type Given<Params> = keyof Params extends never ? [] : [params: Params];

/** A statement: SQL with a unique name, prepared once per connection, whose parameters have names. */
export interface Query<Params extends object, Row, Db = Queryable> {
  readonly rows: (db: Db, ...params: Given<Params>) => Promise<Row[]>;
  /** The first row, or undefined. */
  readonly row: (db: Db, ...params: Given<Params>) => Promise<Row | undefined>;
  /** The first row. @throws if there is none */
  readonly one: (db: Db, ...params: Given<Params>) => Promise<Row>;
  /** The first value of the first row as a number, such as a count or a sum; 0 if there is none. */
  readonly number: (db: Db, ...params: Given<Params>) => Promise<number>;
  /** Whether the statement returned or changed a row. */
  readonly hasRow: (db: Db, ...params: Given<Params>) => Promise<boolean>;
  /** The number of rows that the statement returned or changed. */
  readonly count: (db: Db, ...params: Given<Params>) => Promise<number>;
  /** Runs the statement and ignores its rows. */
  readonly run: (db: Db, ...params: Given<Params>) => Promise<void>;
}

/** A change of a statement: its team and ids are in parameters such as `:teamId`, or in columns of the result. */
type NamedChange<Params, Row> = ChangeDeclaration<
  Row,
  `:${keyof Params & string}` | (string extends keyof Row ? never : keyof Row & string)
>;

/** `:name`, but not the type of `::uuid`, the end of `[1:2]` or a group `(?:…)` of a regular expression. */
const namePattern = /(?<![:?\w\]]):([a-z]\w*)/gi;

interface Known {
  /** The text with numbers instead of names, as PostgreSQL gets it. */
  readonly text: string;
  readonly changes: readonly ChangeDeclaration<object, string>[];
}

const known = new Map<string, Known>();

/**
 * Every statement of the process by name. Tests run EXPLAIN on each statement with large tables, and check its declared
 * changes.
 */
export function allStatements(): ReadonlyMap<string, Known> {
  return known;
}

/**
 * Defines a statement: `:teamId` in the text is the field `teamId` of Params. Stores export its methods as functions:
 * `query<{ id: TeamId }, TeamRow>('teams.find', 'SELECT … WHERE id = :id').row`.
 * @param changes the declared changes of visible resources: each is notified after the commit, so that no use case can
 * forget it. A run that touches no row has no change. If the statement ends in a SELECT, its touched rows are unknown,
 * and the change is always notified.
 * @throws Error if another statement has the name, or a change names a parameter that the text does not have
 */
export function query<Params extends object = object, Row extends object = Record<string, never>>(
  name: string,
  text: string,
  ...changes: readonly NamedChange<Params, Row>[]
): Query<Params, Row> {
  if (known.has(name)) throw new Error(`two statements are named ${name}`);
  const names: string[] = [];
  const numbered = text.replaceAll(namePattern, (_match, parameter: string) => {
    if (!names.includes(parameter)) names.push(parameter);
    return `$${names.indexOf(parameter) + 1}`;
  });
  const source = (place: string) => {
    if (!place.startsWith(':')) return place;
    const index = names.indexOf(place.slice(1));
    if (index >= 0) return `$${index + 1}`;
    throw new Error(`${name} declares a change by ${place}, which is not in its text`);
  };
  const declared = changes.map(
    ({ ids, ...change }) =>
      ({
        ...change,
        team: source(change.team),
        ...(ids === undefined ? {} : { ids: source(ids) }),
      }) as ChangeDeclaration<Row>,
  );
  known.set(name, { text: numbered, changes: declared });
  const recorders = declared.map(compileChangeDeclaration);
  const result = async (db: Queryable, [params = {}]: readonly object[]) => {
    const values = names.map((parameter) => {
      const value = (params as Readonly<Record<string, unknown>>)[parameter];
      if (value === undefined) throw new Error(`${name} was run without its parameter :${parameter}`);
      return value;
    });
    const run = () => db.query<Row & QueryResultRow>({ name, text: numbered, values });
    const found = await run().catch((error: unknown) => {
      if (errorCodeOf(error) === endedCode && 'totalCount' in db) return run();
      throw error;
    });
    if (found.rowCount !== 0 || found.command === 'SELECT')
      for (const record of recorders) record(db.recordChange, values, found.rows);
    return found;
  };
  return {
    rows: async (db, ...params) => (await result(db, params)).rows,
    row: async (db, ...params) => (await result(db, params)).rows[0],
    one: async (db, ...params) => {
      const [row] = (await result(db, params)).rows;
      if (!row) throw new Error(`${name} returned no row`);
      return row;
    },
    number: async (db, ...params) => Number(Object.values((await result(db, params)).rows[0] ?? {})[0] ?? 0),
    hasRow: async (db, ...params) => (await result(db, params)).rowCount !== 0,
    count: async (db, ...params) => (await result(db, params)).rowCount ?? 0,
    run: async (db, ...params) => void (await result(db, params)),
  };
}

/**
 * Defines a statement that runs only inside a transaction, because it locks rows or belongs together with other
 * statements.
 */
export function transactionQuery<Params extends object = object, Row extends object = Record<string, never>>(
  name: string,
  text: string,
  ...changes: readonly NamedChange<Params, Row>[]
): Query<Params, Row, Transaction> {
  return query<Params, Row>(name, text, ...changes);
}
