import { type Queryable, query, transactionQuery } from '#server/database/query.ts';

/** A run of the nightly backup that has ended. */
export interface BackupRun {
  readonly started_at: Date;
  readonly finished_at: Date;
  /** The name of the backup file; null if the run failed. */
  readonly file: string | null;
  readonly bytes: number | null;
  /** Why the run failed, as a sentence; null if it succeeded. */
  readonly error: string | null;
  /** A sentence about what the check of the file did not prove; null if all of it was loaded into an empty database. */
  readonly unproved: string | null;
}

/** The last runs of the nightly backup; undefined where there is none. */
export interface LastBackups {
  readonly latest: BackupRun | undefined;
  /** Its backup has the data of the moment when it began. */
  readonly success: BackupRun | undefined;
  readonly failure: BackupRun | undefined;
}

/** The application_name of a backup's connection, which PostgreSQL shows in pg_stat_activity. */
export const backupSessionName = 'ownline backup';
/** The application_name of a check, whose connection is to the scratch database of the same server. */
export const checkSessionName = 'ownline backup check';

export const insertBackupRun = transactionQuery<BackupRun>(
  'backups.insert',
  `INSERT INTO backups (started_at, finished_at, file, bytes, error, unproved)
   VALUES (:started_at, :finished_at, :file, :bytes, :error, :unproved)`,
).run;

export const purgeBackupRuns = transactionQuery<{ before: Date }>(
  'backups.purge',
  'DELETE FROM backups WHERE finished_at < :before',
).run;

/**
 * How many seconds ago a running backup of this database, or the check of one, began to read, by the database's clock;
 * 0 if none runs. Both keep dead rows of this database from being removed, because a snapshot in this database counts
 * transactions of all databases. A role may see the transactions of its own sessions.
 */
export const readRunningSeconds = query<object, { seconds: number }>(
  'backups.running',
  `SELECT coalesce(max(extract(epoch FROM own.xact_start - b.xact_start)), 0)::float8 AS seconds
   FROM pg_stat_activity own
   JOIN pg_stat_activity b ON b.application_name = '${checkSessionName}'
     OR b.datname = own.datname AND b.application_name = '${backupSessionName}'
   WHERE own.pid = pg_backend_pid()`,
).number;

/** The newest successful run and the newest failed run, the latest of them first. */
const readLast = query<object, BackupRun>(
  'backups.read-last',
  `SELECT * FROM (
     SELECT DISTINCT ON (error IS NULL) started_at, finished_at, file, bytes, error, unproved FROM backups
     ORDER BY error IS NULL, finished_at DESC
   ) last ORDER BY finished_at DESC`,
).rows;

export async function readLastBackups(db: Queryable): Promise<LastBackups> {
  const runs = await readLast(db);
  return {
    latest: runs[0],
    success: runs.find(({ error }) => error === null),
    failure: runs.find(({ error }) => error !== null),
  };
}
