import type { Pool } from 'pg';
import type { Clock } from '#server/platform/clock.ts';

/** The one that was answered fastest is the nearest to the truth: the clock was read somewhere within that time. */
const samples = 5;

/** The one place that reads the database's clock (decision 0007): once at start and each minute after. */
export async function syncClock(pool: Pool, clock: Clock): Promise<void> {
  // The connection first: waiting for one is no part of asking.
  const client = await pool.connect();
  let best: { readonly tookMs: number; readonly databaseMs: number; readonly atMs: number } | undefined;
  try {
    for (let sample = 0; sample < samples; sample += 1) {
      const askedAtMs = performance.now();
      const result = await client.query<{ ms: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
      );
      const heardAtMs = performance.now();
      const databaseMs = result.rows[0]?.ms;
      const tookMs = heardAtMs - askedAtMs;
      if (databaseMs === undefined || (best && best.tookMs <= tookMs)) continue;
      best = { tookMs, databaseMs, atMs: (askedAtMs + heardAtMs) / 2 };
    }
  } finally {
    client.release();
  }
  if (best) clock.follow(best.databaseMs, best.atMs);
}
