import pg from 'pg';
import { until } from './until.ts';

/** A row in the test's hands: what needs it waits until it is let go, in the order in which it came. */
export interface RowLock {
  /** Resolves once that many statements wait for a lock in this database. */
  readonly waiting: (statements: number) => Promise<void>;
  readonly release: () => Promise<void>;
}

/** @param select the rows, `SELECT … FOR UPDATE` */
export async function lockRows(
  databaseUrl: string,
  select: string,
  values: readonly unknown[],
): Promise<RowLock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A test may stop the database under it.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  const { rowCount } = await client.query(select, [...values]);
  if (rowCount === 0) throw new Error(`nothing to lock: ${select}`);
  return {
    waiting: async (statements) => {
      await until(`${statements} statements wait`, async () => {
        // Otherwise a transaction is told again what it was told first.
        await client.query('SELECT pg_stat_clear_snapshot()');
        const { rows } = await client.query<{ waiting: string }>(
          `SELECT count(*)::text AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return Number(rows[0]?.waiting) >= statements;
      });
    },
    release: async () => {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
