import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** A database of its own with the current schema, cloned from the template that `npm test` made. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const engineUrl = process.env.TEST_ENGINE_URL;
  if (engineUrl === undefined)
    throw new Error('Run tests with `npm test -- <file>`, which starts their database.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdministrator(engineUrl, `CREATE DATABASE ${name} TEMPLATE template_ownline STRATEGY FILE_COPY`);
  return {
    url: engineUrl.replace('/ownline?', `/${name}?`),
    // PostgreSQL waits a few seconds for connections that are on their way out. Forced at once, it would end one that its
    // test has closed already, which hears of it and fails; what is still open then was left open.
    drop: () =>
      asAdministrator(engineUrl, `DROP DATABASE ${name}`).catch(() =>
        asAdministrator(engineUrl, `DROP DATABASE ${name} WITH (FORCE)`),
      ),
  };
}

async function asAdministrator(engineUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: engineUrl.replace('/ownline?', '/postgres?') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
