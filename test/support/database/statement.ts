import type { QueryResultRow } from 'pg';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** The values of a statement, with null for those that are missing at its end. */
function valuesFor(sql: string, given: readonly unknown[]): unknown[] {
  const places = [...sql.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
  return Array.from({ length: Math.max(0, ...places) }, (_, index) => given[index] ?? null);
}

/** Makes a function that returns the rows of a query. Its parameters are the values of the query, in their order. */
export function rowsBy<Row extends QueryResultRow, Values extends readonly unknown[] = []>(sql: string) {
  return ({ query }: Service, ...values: Values) => query<Row>(sql, valuesFor(sql, values));
}

/** As `rowsBy`, but the function returns the first row; undefined if there is none. */
export function firstRowBy<Row extends QueryResultRow, Values extends readonly unknown[] = []>(sql: string) {
  const read = rowsBy<Row, Values>(sql);
  return async (service: Service, ...values: Values): Promise<Row | undefined> =>
    (await read(service, ...values))[0];
}

/** As `rowsBy`, but the function returns the only row. It throws if there is none, or more than one. */
export function onlyRowBy<Row extends QueryResultRow, Values extends readonly unknown[] = []>(sql: string) {
  const read = rowsBy<Row, Values>(sql);
  return async (service: Service, ...values: Values): Promise<Row> => {
    const [row, ...others] = await read(service, ...values);
    if (!row || others.length > 0) throw new Error(`${row ? 'more than one row' : 'no row'}: ${sql}`);
    return row;
  };
}

/** As `rowsBy`, but the function returns the values of the first column. */
export function columnBy<Value, Values extends readonly unknown[] = []>(sql: string) {
  const read = rowsBy<QueryResultRow, Values>(sql);
  return async (service: Service, ...values: Values): Promise<Value[]> =>
    (await read(service, ...values)).map((row) => Object.values(row)[0] as Value);
}

/** As `rowsBy`, but the function returns the number of rows. */
export function countBy<Values extends readonly unknown[] = []>(sql: string) {
  const read = rowsBy<QueryResultRow, Values>(sql);
  return async (service: Service, ...values: Values): Promise<number> =>
    (await read(service, ...values)).length;
}

/** Makes a function that changes rows. */
export function changeBy<Values extends readonly unknown[] = []>(sql: string) {
  return async ({ query }: Service, ...values: Values): Promise<void> =>
    void (await query(sql, valuesFor(sql, values)));
}

/** As `changeBy`, but the function throws unless it changes exactly one row. */
export function changeOneBy<Values extends readonly unknown[] = []>(sql: string) {
  const change = onlyRowBy<QueryResultRow, Values>(`${sql} RETURNING true AS is_changed`);
  return async (service: Service, ...values: Values): Promise<void> =>
    void (await change(service, ...values));
}
