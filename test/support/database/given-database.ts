import pg from 'pg';
import { Database } from '#server/database/database.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { given } from '#test/support/service/given.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** A database without a service, and connections as a service has them, for a suite. */
export function givenDatabase(poolSize?: number): {
  readonly database: TestDatabase;
  readonly service: Database;
} {
  const database = given(createTestDatabase);
  const service = given(async () => {
    const logger = createLogger('warn');
    return new Database({ databaseUrl: database.url, logger, ...(poolSize && { poolSize }) });
  });
  return { database, service };
}

/** A client of a database, for a suite. */
export function givenClient(database: Pick<TestDatabase, 'url'>): pg.Client {
  return given(
    () => connectClient(database.url),
    (client) => client.end(),
  );
}

/** For a suite: a database that `fill` fills, and a connection that reads pages of it without a time limit. */
export function givenFilledDatabase(fill: (filler: pg.Client) => Promise<unknown>): {
  readonly service: Database;
  readonly client: pg.PoolClient;
} {
  const { database, service } = givenDatabase();
  const client = given(
    async () => {
      // A separate connection fills the tables: those of the service time out after 12 s, which is too short on a busy
      // machine.
      const filler = await connectClient(database.url);
      await fill(filler);
      await filler.end();
      const reader = await service.pages.connect();
      await reader.query('SET statement_timeout = 0');
      await reader.query('SET lock_timeout = 0');
      return reader;
    },
    (reader) => reader.release(),
  );
  return { service, client };
}

async function connectClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
