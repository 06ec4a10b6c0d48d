import assert from 'node:assert/strict';
import type pg from 'pg';
import type { Database } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type PlanNode, rowsRead } from './plan-node.ts';

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs EXPLAIN ANALYZE for a statement with these values, on the test's connection. */
export async function explain(client: pg.PoolClient, { text, values }: Asked): Promise<PlanNode> {
  const written = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(textOf(value))));
  await client.query(`PREPARE asked AS ${text}`);
  const { rows } = await client.query(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE asked (${written.join(', ')})`,
  );
  await client.query('DEALLOCATE asked');
  const [explanation] = rows.flatMap((row) => row['QUERY PLAN'] as { Plan: PlanNode }[]);
  assert.ok(explanation);
  return explanation.Plan;
}

/**
 * The generic plan of a statement, as EXPLAIN (GENERIC_PLAN) has it from PostgreSQL 16 on.
 * @returns a text for each line, or one value in JSON
 */
export async function explainGeneric<Line>(
  client: pg.ClientBase,
  text: string,
  format: 'COSTS OFF' | 'FORMAT JSON',
): Promise<Line[]> {
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
  const nulls = Array.from({ length: Math.max(0, ...places) }, () => 'NULL').join();
  await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE asked AS ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': Line }>(
    `EXPLAIN (${format}) EXECUTE asked${nulls && `(${nulls})`}`,
  );
  await client.query('DEALLOCATE asked');
  return rows.map((row) => row['QUERY PLAN']);
}

/** The value as text in PostgreSQL's syntax. */
function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  // JSON quotes the elements of an array as PostgreSQL does.
  return Array.isArray(value) ? `{${value.map((each) => JSON.stringify(each)).join(',')}}` : String(value);
}

/** Plans of all statements that a page runs, by name, with the page's parameters. */
export async function explainStatements(
  client: pg.PoolClient,
  { pool, pages }: Database,
  list: (services: Runtime) => Promise<unknown>,
): Promise<ReadonlyMap<string, PlanNode>> {
  const plans = new Map<string, PlanNode>();
  const recorder = {
    query: async (statement: Asked & { readonly name: string }) => {
      plans.set(statement.name, await explain(client, statement));
      return pages.query({ ...statement, values: [...statement.values] });
    },
  };
  await list({ database: { pool, pages: recorder } as unknown as Database } as Runtime);
  return plans;
}

/** Plan of the only statement that a page runs, with the page's parameters. */
export async function explainPage(
  client: pg.PoolClient,
  { pool }: Database,
  list: (services: Runtime) => Promise<unknown>,
): Promise<PlanNode> {
  const ran: Asked[] = [];
  const recorder = {
    query: async (statement: Asked) => {
      ran.push(statement);
      return { rows: [] };
    },
  };
  await list({ database: { pool, pages: recorder } as unknown as Database } as Runtime);
  const [paging, ...others] = ran;
  assert.ok(paging && others.length === 0, 'a page is one statement');
  return explain(client, paging);
}

/**
 * Fails for each query that reads more than `max` rows of a table, and a few `beside` them. It also fails if no query
 * reads `max` rows, because the test would not test the bound. @returns the number of queries
 */
export async function expectBounded<Query>(
  queries: Iterable<Query>,
  plan: (query: Query) => Promise<PlanNode>,
  max: number,
  beside: number,
): Promise<number> {
  const beyond: string[] = [];
  let [most, asked] = [0, 0];
  for (const query of queries) {
    asked += 1;
    for (const [table, read] of rowsRead(await plan(query))) {
      most = Math.max(most, read);
      if (read > max + beside) beyond.push(`${JSON.stringify(query)}: ${read} of ${table}`);
    }
  }
  assert.deepEqual(beyond, []);
  assert.ok(most >= max, `${most}`);
  return asked;
}

interface Page {
  readonly cursor: string;
  readonly has_more: boolean;
}

/** Follows the cursors of pages to the end. @returns the rows of all pages, and how many pages had none */
export async function walkPages<Read extends Page, Row>(
  read: (cursor: string) => Promise<Read>,
  rowsOf: (page: Read) => readonly Row[],
  pagesMax: number,
): Promise<{ readonly rows: Row[]; readonly pages: number; readonly empty: number }> {
  const rows: Row[] = [];
  let [cursor, empty] = ['', 0];
  for (let pages = 1; ; pages += 1) {
    const page = await read(cursor);
    rows.push(...rowsOf(page));
    if (rowsOf(page).length === 0) empty += 1;
    if (!page.has_more) return { rows, pages, empty };
    assert.ok(page.cursor !== cursor && pages <= pagesMax, 'the walk goes on');
    cursor = page.cursor;
  }
}
