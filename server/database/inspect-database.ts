import { readSchemaVersion } from './apply-schema.ts';
import type { Database } from './database.ts';
import { query } from './query.ts';
import { requireSettings } from './require-settings.ts';

/** Facts about a database, for `ownline doctor`. */
export interface DatabaseFacts {
  /** PostgreSQL's own text, such as `18.4`. */
  readonly version: string;
  readonly is_read_only: boolean;
  readonly bytes: number;
}

const readFacts = query<object, DatabaseFacts>(
  'database.facts',
  `SELECT current_setting('server_version') AS version,
     pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS is_read_only,
     pg_database_size(current_database()) AS bytes`,
).one;

/** Number of timed round trips; the shortest one is the latency without other work. */
const roundTrips = 5;

const ping = query('database.ping', 'SELECT 1 AS one').run;

/**
 * @returns the facts, the schema version (0 before the first start) and the shortest round trip in milliseconds
 * @throws StartError if a pooler dropped settings
 */
export async function inspectDatabase(database: Pick<Database, 'batches' | 'pool'>): Promise<{
  readonly facts: DatabaseFacts;
  readonly schemaVersion: number;
  readonly roundTripMs: number;
}> {
  await requireSettings(database);
  const { pool } = database;
  const facts = await readFacts(pool);
  const schemaVersion = await readSchemaVersion(pool);
  let roundTripMs = Number.POSITIVE_INFINITY;
  for (let trip = 0; trip < roundTrips; trip += 1) {
    const startedMs = performance.now();
    await ping(pool);
    roundTripMs = Math.min(roundTripMs, performance.now() - startedMs);
  }
  return { facts, schemaVersion, roundTripMs };
}
