import type { ChangeDeclaration } from './change.ts';
import { type Queryable, query, type Transaction } from './query.ts';

export type { Queryable, Transaction };

/** The form of `query` with numbered parameters, for stores that have no names yet. `Params` are the types of $1, $2 and so on. */
export interface Statement<Params extends readonly unknown[], Row, Db = Queryable> {
  readonly rows: (db: Db, ...params: Params) => Promise<Row[]>;
  readonly row: (db: Db, ...params: Params) => Promise<Row | undefined>;
  readonly hasRow: (db: Db, ...params: Params) => Promise<boolean>;
  readonly count: (db: Db, ...params: Params) => Promise<number>;
  readonly run: (db: Db, ...params: Params) => Promise<void>;
}

/** The row of a statement that returns none. */
type NoRow = Record<string, never>;

const nameOf = (text: string) => text.replaceAll(/\$(\d+)/g, ':p$1');

export function statement<Params extends readonly unknown[] = [], Row extends object = NoRow>(
  name: string,
  text: string,
  ...changes: readonly ChangeDeclaration<Row>[]
): Statement<Params, Row> {
  const named = query<Record<string, unknown>, Row>(
    name,
    nameOf(text),
    ...changes.map(
      ({ team, ids, ...change }) =>
        ({
          ...change,
          team: nameOf(team),
          ...(ids === undefined ? {} : { ids: nameOf(ids) }),
        }) as ChangeDeclaration<Row, never>,
    ),
  );
  const of = (values: readonly unknown[]) =>
    Object.fromEntries(values.map((value, at) => [`p${at + 1}`, value]));
  return {
    rows: (db, ...params) => named.rows(db, of(params)),
    row: (db, ...params) => named.row(db, of(params)),
    hasRow: (db, ...params) => named.hasRow(db, of(params)),
    count: (db, ...params) => named.count(db, of(params)),
    run: (db, ...params) => named.run(db, of(params)),
  };
}

export function transactionStatement<Params extends readonly unknown[] = [], Row extends object = NoRow>(
  name: string,
  text: string,
  ...changes: readonly ChangeDeclaration<Row>[]
): Statement<Params, Row, Transaction> {
  return statement<Params, Row>(name, text, ...changes);
}
