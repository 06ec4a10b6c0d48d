import pg from 'pg';
import type { Transaction } from '#server/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'databaseUrl'>;

/** Ends every connection that listens to notifications. */
export async function cutListeners({ query }: Pick<TestService, 'query'>): Promise<void> {
  await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'ownline notifications'`,
  );
}

/** Ends every connection to the database and refuses new ones until `allow` is called. */
export async function denyConnections({
  databaseUrl,
}: Service): Promise<{ readonly allow: () => Promise<void> }> {
  const outside = new pg.Client({ connectionString: databaseUrl.replace(/\/\w+\?/, '/postgres?') });
  await outside.connect();
  const [, name = ''] = /\/(\w+)\?/.exec(databaseUrl) ?? [];
  const allowConnections = (isAllowed: boolean) =>
    outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
  await allowConnections(false);
  await outside.query('SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1', [
    name,
  ]);
  return {
    allow: async () => {
      await allowConnections(true);
      await outside.end();
    },
  };
}

/** Ends the connection of a transaction. @throws the error of its next statement */
export async function killTransaction(
  trx: Transaction,
  { query }: Pick<TestService, 'query'>,
): Promise<never> {
  const { rows } = await trx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await trx.query('SELECT');
  throw new Error('the connection was not ended');
}
