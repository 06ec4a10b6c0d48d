import pg from 'pg';
// It sets how types are read.
import '#server/database/database.ts';
import type { TestService } from './test-service.ts';

/** The database of a service in another process, for the readers and makers of these folders. */
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
