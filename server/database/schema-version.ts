import type pg from 'pg';
import { StartError } from '#server/platform/start-error.ts';

/** The version of the schema that this code needs: 1, the files of the folder `schema` (decision 0050). */
export const schemaVersion = 1;

/**
 * Reads the schema version of a database.
 * @returns 0 if the database has no tables of Ownline
 * @throws StartError if the tables are from before the first release, which no release reads
 */
export async function readSchemaVersion(client: Pick<pg.ClientBase, 'query'>): Promise<number> {
  const { rows } = await client.query<{ is_known: boolean; is_unreleased: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('schema_versions') AND attname = 'fingerprint') AS is_known,
       to_regclass('schema_version') IS NOT NULL OR to_regclass('send_queue') IS NOT NULL AS is_unreleased`,
  );
  if (rows[0]?.is_known) {
    const { rows: versions } = await client.query<{ version: number }>(
      'SELECT max(version) AS version FROM schema_versions',
    );
    return versions[0]?.version ?? 0;
  }
  if (!rows[0]?.is_unreleased) return 0;
  throw new StartError(
    'The database was made by Ownline from before its first release, and no release reads it: start with another DATA_DIR, or ' +
      'with an empty database in DATABASE_URL, and keep the old one for as long as you need what is in it.',
  );
}
