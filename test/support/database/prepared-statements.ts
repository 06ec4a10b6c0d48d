import type { Pool } from 'pg';

/** Number of runs of a statement on the pool's first connection; 0 if it was not prepared there. */
export async function countRuns(pool: Pool, name: string): Promise<number> {
  const { rows } = await pool.query<{ runs: number }>(
    'SELECT generic_plans + custom_plans AS runs FROM pg_prepared_statements WHERE name = $1',
    [name],
  );
  return rows[0]?.runs ?? 0;
}
