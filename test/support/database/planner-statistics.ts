import type { TestService } from '#test/support/service/test-service.ts';

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
