import pg from 'pg';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

type Service = Pick<TestService, 'databaseUrl'>;

/** An open transaction of the test. Statements that need its locks wait in the order of arrival. */
export type HeldTransaction = Awaited<ReturnType<typeof holdTransaction>>;

/** Runs `sql` in a transaction that stays open. Tests use it through functions that name the locked rows. */
export async function holdTransaction({ databaseUrl }: Service, sql: string, values: readonly unknown[]) {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A test may stop the database during the transaction.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  const { rowCount } = await client.query(sql, [...values]);
  if (rowCount === 0) {
    await client.end();
    throw new Error(`this statement locked no row: ${sql}`);
  }
  let isOpen = true;
  return {
    /** Resolves once this number of statements wait for a lock in the database. */
    waiting: async (statements: number) => {
      await until(`${statements} statements wait`, async () => {
        // Drops cached statistics: otherwise the transaction would see those of its first query again.
        await client.query('SELECT pg_stat_clear_snapshot()');
        const { rows } = await client.query<{ waiting: string }>(
          `SELECT count(*)::text AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return Number(rows[0]?.waiting) >= statements;
      });
    },
    /** Commits. A second call does nothing. */
    release: async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.query('COMMIT');
      await client.end();
    },
  };
}

/** Makes a function that runs `sql` in a transaction, which commits when the test releases it. */
export function heldBy<Values extends readonly unknown[] = []>(sql: string) {
  return (service: Service, ...values: Values) => holdTransaction(service, sql, values);
}
