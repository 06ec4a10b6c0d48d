import pg from 'pg';
import type { TestService } from './test-service.ts';
import { until } from './until.ts';

/** A transaction of the test's own: statements that need what it locks wait in the order in which they came. */
export interface HeldTransaction {
  /** Resolves once that many statements wait for a lock in this database. */
  readonly waiting: (statements: number) => Promise<void>;
  /** Commits; a second call does nothing. */
  readonly release: () => Promise<void>;
}

/** For the helpers of this folder: a test calls one that says what is locked or changed. */
export async function holdTransaction(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  sql: string,
  values: readonly unknown[],
): Promise<HeldTransaction> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A test may stop the database under it.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  const { rowCount } = await client.query(sql, [...values]);
  if (rowCount === 0) {
    await client.end();
    throw new Error(`nothing to lock: ${sql}`);
  }
  let isOpen = true;
  return {
    waiting: async (statements) => {
      await until(`${statements} statements wait`, async () => {
        // A transaction sees the statistics of its first look again otherwise.
        await client.query('SELECT pg_stat_clear_snapshot()');
        const { rows } = await client.query<{ waiting: string }>(
          `SELECT count(*)::text AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return Number(rows[0]?.waiting) >= statements;
      });
    },
    release: async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.query('COMMIT');
      await client.end();
    },
  };
}
