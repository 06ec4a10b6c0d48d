import pg from 'pg';

/** Drops the comments of all tables, as a dump without comments does: they are for people, and no code reads them. */
export async function dropTableComments(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
    LOOP EXECUTE format('COMMENT ON TABLE %I IS NULL', name); END LOOP; END $$`);
  await client.end();
}
