import type { ChangeDeclaration } from './change.ts';
import { type Queryable, statement, type Transaction } from './statement.ts';
import { quoteName } from './tables.ts';

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

/** The parameters of a run: an object with a field for each name in the text, or nothing if the text has no names. */
type Given<Params> = keyof Params extends never ? [] : [params: Params];

/** SQL with a unique name, prepared once per connection, whose parameters have names. */
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

/** A change of a `query`: its team and ids are in parameters such as `:teamId`, or in columns of the result. */
type NamedChange<Params, Row> = ChangeDeclaration<
  Row,
  `:${keyof Params & string}` | (string extends keyof Row ? never : keyof Row & string)
>;

/** `:name`, but not the type of `::uuid`, the end of `[1:2]` or a group `(?:…)` of a regular expression. */
const namePattern = /(?<![:?\w\]]):([a-z]\w*)/gi;

/**
 * Defines a statement with named parameters: `:teamId` in the text is the field `teamId` of Params. Stores export its
 * methods as functions: `query<{ id: TeamId }, TeamRow>('teams.find', 'SELECT … WHERE id = :id').row`.
 * @param changes as those of `statement`
 * @throws Error if a change names a parameter that the text does not have
 */
export function query<Params extends object = object, Row extends object = Record<string, never>>(
  name: string,
  text: string,
  ...changes: readonly NamedChange<Params, Row>[]
): Query<Params, Row> {
  const names: string[] = [];
  const numberOf = (parameter: string): `$${number}` => {
    if (!names.includes(parameter)) names.push(parameter);
    return `$${names.indexOf(parameter) + 1}`;
  };
  const numbered = text.replaceAll(namePattern, (_match, parameter: string) => numberOf(parameter));
  const source = (place: string) => {
    if (!place.startsWith(':')) return place;
    if (names.includes(place.slice(1))) return numberOf(place.slice(1));
    throw new Error(`${name} declares a change by ${place}, which is not in its text`);
  };
  const plain = statement<unknown[], Row>(
    name,
    numbered,
    ...changes.map(
      ({ changes, team, ids }) =>
        ({
          changes,
          team: source(team),
          ...(ids === undefined ? {} : { ids: source(ids) }),
        }) as ChangeDeclaration<Row>,
    ),
  );
  const valuesOf = ([params = {}]: readonly object[]): unknown[] =>
    names.map((parameter) => {
      const value = (params as Readonly<Record<string, unknown>>)[parameter];
      if (value === undefined) throw new Error(`${name} was run without its parameter :${parameter}`);
      return value;
    });
  const row: Query<Params, Row>['row'] = async (db, ...params) => plain.row(db, ...valuesOf(params));
  return {
    rows: async (db, ...params) => plain.rows(db, ...valuesOf(params)),
    row,
    one: async (db, ...params) => {
      const found = await row(db, ...params);
      if (!found) throw new Error(`${name} returned no row`);
      return found;
    },
    number: async (db, ...params) => Number(Object.values((await row(db, ...params)) ?? {})[0] ?? 0),
    hasRow: async (db, ...params) => plain.hasRow(db, ...valuesOf(params)),
    count: async (db, ...params) => plain.count(db, ...valuesOf(params)),
    run: async (db, ...params) => plain.run(db, ...valuesOf(params)),
  };
}

/** Defines a query that runs only inside a transaction, because it locks rows or is one step of several. */
export function transactionQuery<Params extends object = object, Row extends object = Record<string, never>>(
  name: string,
  text: string,
  ...changes: readonly NamedChange<Params, Row>[]
): Query<Params, Row, Transaction> {
  return query<Params, Row>(name, text, ...changes);
}
