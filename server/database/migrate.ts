import { fileURLToPath } from 'node:url';
import pg from 'pg';
import Postgrator from 'postgrator';

const migrationsFolder = fileURLToPath(new URL('./migrations/', import.meta.url));

/** Two processes that start at once take turns; the number is arbitrary and ours alone. */
const migrationLock = 7_061_726_401;

/**
 * Brings the schema up to date. All files that are due and the notes that they ran are one transaction: a kill in
 * the middle leaves the schema as it was, and a statement that waits for a lock gives up rather than stop the world.
 * @param upTo the last version that is wanted, as its file is numbered: what tests of an upgrade begin with
 * @returns the versions that were applied now
 */
export async function migrate(databaseUrl: string, upTo = 'max'): Promise<number[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'ownline migrations' });
  // A connection that breaks fails its query; it may say so a second time, which nobody waits for.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query("SET LOCAL lock_timeout = '10s'");
    const postgrator = new Postgrator({
      migrationPattern: `${migrationsFolder}*.sql`,
      driver: 'pg',
      schemaTable: 'schema_version',
      execQuery: (query: string) => client.query(query),
    });
    const applied = await postgrator.migrate(upTo);
    await client.query('COMMIT');
    return applied.map((migration) => migration.version);
  } finally {
    await client.end();
  }
}
