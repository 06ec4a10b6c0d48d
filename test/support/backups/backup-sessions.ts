import { connectToDatabase, type DatabaseConnection } from '#test/support/database/database-connection.ts';
import { until } from '#test/support/service/until.ts';

/** Resolves once a restore loads rows in an open transaction. @param findUrl returns the URL of the database */
export async function untilRestoring(findUrl: () => Promise<string>): Promise<void> {
  await until('a restore loads rows', async () => {
    const loading = "backend_xid IS NOT NULL AND query LIKE 'COPY %'";
    const count = await findUrl()
      .then((url) => countSessions(url, loading))
      .catch(() => 0);
    return count === 1;
  });
}

/** Number of sessions of backups and restores in this database. */
export function countBackupSessions(databaseUrl: string): Promise<number> {
  return countSessions(databaseUrl, 'true');
}

async function countSessions(databaseUrl: string, condition: string): Promise<number> {
  let database: DatabaseConnection | undefined;
  try {
    database = await connectToDatabase(databaseUrl);
    const sessions = await database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
         AND application_name IN ('ownline backup', 'ownline restore') AND ${condition}`,
    );
    return sessions.length;
  } finally {
    await database?.close();
  }
}
