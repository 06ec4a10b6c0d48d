import { randomBytes } from 'node:crypto';
import pg from 'pg';

const databaseName = /\/(\w+)\?/;

export interface TestDatabase {
  readonly url: string;
  /** Drops the database. */
  readonly close: () => Promise<void>;
}

/** Makes a database with the current schema, cloned from the one that `npm test` made. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(
    `TEMPLATE ${databaseName.exec(process.env.TEST_ENGINE_URL ?? '')?.[1]} STRATEGY FILE_COPY`,
  );
}

/** Makes a database without tables. @param options of CREATE DATABASE */
export function createEmptyDatabase(options = ''): Promise<TestDatabase> {
  return createDatabase(options);
}

async function createDatabase(options: string): Promise<TestDatabase> {
  const engineUrl = process.env.TEST_ENGINE_URL;
  if (engineUrl === undefined)
    throw new Error('Run tests with `npm test -- <file>`, which starts their database.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdministrator(engineUrl, `CREATE DATABASE ${name} ${options}`);
  return {
    url: engineUrl.replace(databaseName, `/${name}?`),
    // First the database is dropped without FORCE: PostgreSQL waits a few seconds for connections that are closing, and
    // FORCE would end these with an error. Later FORCE ends connections that were left open.
    close: () =>
      asAdministrator(engineUrl, `DROP DATABASE ${name}`).catch(() =>
        asAdministrator(engineUrl, `DROP DATABASE ${name} WITH (FORCE)`),
      ),
  };
}

async function asAdministrator(engineUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: engineUrl.replace(databaseName, '/postgres?') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
