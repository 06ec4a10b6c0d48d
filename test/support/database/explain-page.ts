import assert from 'node:assert/strict';
import type pg from 'pg';
import type { Database } from '#server/database/database.ts';
import type { PlanNode } from './plan-node.ts';

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs EXPLAIN ANALYZE for a statement with these values, on the test's connection. */
export async function explain(client: pg.PoolClient, { text, values }: Asked): Promise<PlanNode> {
  const written = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(textOf(value))));
  await client.query(`PREPARE asked AS ${text}`);
  const { rows } = await client.query(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE asked (${written.join(', ')})`,
  );
  await client.query('DEALLOCATE asked');
  const [explanation] = rows.flatMap((row) => row['QUERY PLAN'] as { Plan: PlanNode }[]);
  assert.ok(explanation);
  return explanation.Plan;
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
  list: (services: { readonly database: Database }) => Promise<unknown>,
): Promise<ReadonlyMap<string, PlanNode>> {
  const plans = new Map<string, PlanNode>();
  const recorder = {
    query: async (statement: Asked & { readonly name: string }) => {
      plans.set(statement.name, await explain(client, statement));
      return pages.query({ ...statement, values: [...statement.values] });
    },
  };
  await list({ database: { pool, pages: recorder } as unknown as Database });
  return plans;
}

/** Plan of the only statement that a page runs, with the page's parameters. */
export async function explainPage(
  client: pg.PoolClient,
  { pool }: Database,
  list: (services: { readonly database: Database }) => Promise<unknown>,
): Promise<PlanNode> {
  const ran: Asked[] = [];
  const recorder = {
    query: async (statement: Asked) => {
      ran.push(statement);
      return { rows: [] };
    },
  };
  await list({ database: { pool, pages: recorder } as unknown as Database });
  const [paging, ...others] = ran;
  assert.ok(paging && others.length === 0, 'a page is one statement');
  return explain(client, paging);
}
