import pg from 'pg';

/** The clock of one test database, which a test sets. */
export type MovableDatabaseClock = Awaited<ReturnType<typeof makeClockMovable>>;

/**
 * Makes a database's clock movable: later connections call a clock_timestamp() that adds an offset from a table to
 * PostgreSQL's. Everything else is plain PostgreSQL.
 */
export async function makeClockMovable(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    CREATE SCHEMA moved;
    CREATE TABLE moved.ahead (ms double precision NOT NULL);
    INSERT INTO moved.ahead VALUES (0);
    CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + make_interval(secs => (SELECT ms FROM moved.ahead) / 1000)';
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = moved, public, pg_catalog', current_database());
    END $$`);
  return {
    /** Sets how far the database's clock is ahead of the machine's; negative if it is behind. */
    set: async (aheadMs: number) => void (await client.query('UPDATE moved.ahead SET ms = $1', [aheadMs])),
    close: () => client.end(),
  };
}
