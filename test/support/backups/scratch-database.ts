import { checkSessionName } from '#server/backups/archive/backups-store.ts';
import { connectForBackup } from '#server/backups/archive/create-backup.ts';
import { administratorUrl } from '#server/database/engine/engine-connection.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

const name = 'ownline_backup_check';

async function askAdministrator(databaseUrl: string, sql: string): Promise<number> {
  const administrator = await connectToDatabase(administratorUrl(databaseUrl));
  const rows = await administrator.query(sql).finally(() => administrator.close());
  return rows.length;
}

/** Whether the scratch database of a backup's check exists. */
export async function hasScratchDatabase(databaseUrl: string): Promise<boolean> {
  return (await askAdministrator(databaseUrl, `SELECT FROM pg_database WHERE datname = '${name}'`)) > 0;
}

/** Makes the scratch database, as a check that was killed leaves it. */
export async function leaveScratchDatabase(databaseUrl: string): Promise<void> {
  await askAdministrator(databaseUrl, `CREATE DATABASE ${name}`);
}

/** Adds a number to each test team, which the schema refuses, until `withBrokenRule` ends. */
export async function withBrokenRule({ query }: Service, work: () => Promise<void>): Promise<void> {
  const phoneNumber = '+14155550199';
  await query('ALTER TABLE numbers DISABLE TRIGGER numbers_test_line');
  await query(
    `INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
     SELECT test_team_id, gen_random_uuid(), $1, now(), now() FROM test_teams`,
    [phoneNumber],
  );
  await work();
  await query('DELETE FROM numbers WHERE phone_number = $1', [phoneNumber]);
  await query('ALTER TABLE numbers ENABLE TRIGGER numbers_test_line');
}

/** Opens a transaction in another database, as the check of a backup does. */
export async function holdCheckSession(): Promise<{ readonly release: () => Promise<void> }> {
  const scratch = await createEmptyDatabase();
  const client = await connectForBackup(scratch.url, checkSessionName);
  await client.query('BEGIN');
  await client.query('SELECT 1');
  return {
    release: async () => {
      await client.end();
      await scratch.close();
    },
  };
}
