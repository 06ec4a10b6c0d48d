import type pg from 'pg';
import { changeBy, columnBy } from './statement.ts';

/** Lists the tables that were analyzed while they had no rows. A plan for such a table expects none, whatever comes later. */
export async function tablesAnalyzedEmpty(client: Pick<pg.Client | pg.Pool, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples = 0 ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Analyzes all tables, as autovacuum does with time. */
export const analyzeAll = changeBy('ANALYZE');

/** The tables whose statistics have a sample with a text. */
export const tablesWithSample = columnBy<string, [text: string]>(
  `SELECT DISTINCT tablename FROM pg_stats
   WHERE position($1 IN coalesce(most_common_vals::text, '') || coalesce(histogram_bounds::text, '')) > 0`,
);
