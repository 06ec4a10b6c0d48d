import pg from 'pg';
// This import makes pg parse types as the server does.
import '#server/database/database.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** A connection to the database of a service in another process, with the interface of a TestService. */
export interface DatabaseConnection extends Pick<TestService, 'databaseUrl' | 'query'> {
  readonly close: () => Promise<void>;
}

export async function connectToDatabase(databaseUrl: string): Promise<DatabaseConnection> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    databaseUrl,
    query: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await client.query<Row>(sql, values)).rows,
    close: () => client.end(),
  };
}
