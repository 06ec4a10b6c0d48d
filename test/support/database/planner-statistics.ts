import type pg from 'pg';
import type { TestService } from '#test/support/service/test-service.ts';

/** Lists the tables that were analyzed while they had no rows. A plan for such a table expects none, whatever comes later. */
export async function tablesAnalyzedEmpty(client: Pick<pg.Client | pg.Pool, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples = 0 ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Analyzes all tables, as autovacuum does with time. */
export async function analyzeAll({ query }: Pick<TestService, 'query'>): Promise<void> {
  await query('ANALYZE');
}

/** The tables whose statistics have a sample with a text. */
export async function tablesWithSample(
  { query }: Pick<TestService, 'query'>,
  text: string,
): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `SELECT DISTINCT tablename AS name FROM pg_stats
     WHERE position($1 IN coalesce(most_common_vals::text, '') || coalesce(histogram_bounds::text, '')) > 0`,
    [text],
  );
  return rows.map(({ name }) => name);
}
