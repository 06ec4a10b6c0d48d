import pg from 'pg';
import type { TeamId } from '#server/platform/ids.ts';

/** Key of the advisory lock: an arbitrary number that only this file uses. */
const lock = 7_061_726_402;

/**
 * Holds reads of one team's messages, as on a slow disk. A row security policy waits for an advisory lock at each row of
 * the team.
 */
export async function holdReads(databaseUrl: string, teamId: TeamId) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('SELECT pg_advisory_lock($1)', [lock]);
  await client.query(`
    CREATE OR REPLACE FUNCTION wait_for_test(of_team uuid) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF of_team = '${teamId}' THEN
        PERFORM pg_advisory_xact_lock_shared(${lock});
      END IF;
      RETURN true;
    END
    $$;
    DROP POLICY IF EXISTS wait_for_test ON messages;
    DROP POLICY IF EXISTS anything ON messages;
    CREATE POLICY wait_for_test ON messages FOR SELECT USING (wait_for_test(team_id));
    CREATE POLICY anything ON messages FOR ALL USING (false) WITH CHECK (true);
    ALTER TABLE messages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
  return {
    /** Releases these reads and all later ones: closing the connection releases the lock. */
    release: () => client.end(),
  };
}
