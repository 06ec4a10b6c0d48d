import type { Pool } from 'pg';
import type { Clock } from '#server/platform/clock.ts';

/** The one place that reads the database's clock (decision 0007): once at start and each minute after. */
export async function syncClock(pool: Pool, clock: Clock): Promise<void> {
  const askedAtMs = performance.now();
  const result = await pool.query<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  const heardAtMs = performance.now();
  const row = result.rows[0];
  if (row) clock.follow(row.ms, (askedAtMs + heardAtMs) / 2);
}
