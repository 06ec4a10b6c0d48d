import pg from 'pg';
import type { Transaction } from '#server/database/query.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { changeBy } from './statement.ts';

type Service = Pick<TestService, 'databaseUrl'>;

/** Ends every connection that listens to notifications. */
export const cutListeners = changeBy(
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'ownline notifications'`,
);

/** Connects to another database of the server. @returns the connection, and the name of the test's database */
async function connectOutside({ databaseUrl }: Service): Promise<{ outside: pg.Client; name: string }> {
  const outside = new pg.Client({ connectionString: databaseUrl.replace(/\/\w+\?/, '/postgres?') });
  await outside.connect();
  return { outside, name: /\/(\w+)\?/.exec(databaseUrl)?.[1] ?? '' };
}

const endAll = 'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1';

/** Ends every connection to the database and refuses new ones until `allow` is called. */
export async function denyConnections(service: Service): Promise<{ readonly allow: () => Promise<void> }> {
  const { outside, name } = await connectOutside(service);
  await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await outside.query(endAll, [name]);
  return {
    allow: async () => {
      await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await outside.end();
    },
  };
}

/** Lets the service have no more than `max` connections, until `lift` is called. Open connections stay. */
export async function limitConnections(service: Service, max: number) {
  const { outside, name } = await connectOutside(service);
  const limit = (connections: number) =>
    outside.query(`ALTER DATABASE ${name} CONNECTION LIMIT ${connections}`);
  await limit(max);
  return {
    lift: async () => {
      await limit(-1);
      await outside.end();
    },
  };
}

/** Makes every transaction of the service read-only, as on a standby, until `restore` is called. */
export async function makeReadOnly(service: Service): Promise<{ readonly restore: () => Promise<void> }> {
  const { outside, name } = await connectOutside(service);
  const change = async (action: string) => {
    await outside.query(`ALTER DATABASE ${name} ${action}`);
    // Open connections keep their old setting, so they are ended.
    await outside.query(endAll, [name]);
  };
  await change('SET default_transaction_read_only = on');
  return {
    restore: async () => {
      await change('RESET default_transaction_read_only');
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
