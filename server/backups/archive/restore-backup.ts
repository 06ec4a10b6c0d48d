import type { Readable } from 'node:stream';
import type pg from 'pg';
import { schemaVersion } from '#server/database/apply-schema.ts';
import { isDatabaseAway } from '#server/database/database.ts';
import type { Transaction } from '#server/database/query.ts';
import { keepSecretsKey, refuseOtherKey } from '#server/database/secrets-key.ts';
import { analyzeFilled, listTables } from '#server/database/tables.ts';
import type { Config } from '#server/platform/config.ts';
import { errorCodeOf, messageOf } from '#server/platform/error-code.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { BackupError } from './backup-error.ts';
import type { BackupHeader, Progress } from './backup-format.ts';
import { BackupReader } from './backup-reader.ts';
import { connectForBackup, lockBackups } from './create-backup.ts';
import { loadBackup } from './load-backup.ts';
import { writeSignedShortcuts } from './signed-shortcuts.ts';

export interface RestoreTarget {
  readonly databaseUrl: string;
  readonly config: Pick<Config, 'dataDir' | 'secretsKey'>;
  /** The passphrase of the backup; undefined if none was given. */
  readonly passphrase: string | undefined;
  readonly progress?: Progress;
  /** Aborts the restore, which then fails. Once the commit has begun, the signal is ignored. */
  readonly signal?: AbortSignal;
  /** Called before the commit. From then on an interruption leaves it unknown whether the restore took place. */
  readonly beforeCommit?: () => void;
  /** Runs work of other slices in the transaction of the restore, after its rows were loaded. */
  readonly afterLoad: (trx: Transaction, header: BackupHeader) => Promise<void>;
}

export interface RestoreResult {
  readonly taken_at: string;
  /** The schema version of the backup. `schema_version` is the version of the database after the restore. */
  readonly backup_schema_version: number;
  readonly schema_version: number;
  readonly tables: number;
  readonly rows: number;
}

/**
 * Loads a backup into an empty database. The schema, all rows and `afterLoad` are one
 * transaction. The transaction commits after the last byte of the backup was checked. So a kill at any moment leaves
 * the database empty or complete. All constraints and triggers stay active. Deferrable ones are checked after the last
 * row (decision 0037).
 * @throws BackupError if the database is not empty, or the backup is damaged, newer, or encrypted with another
 * passphrase
 */
export async function restoreBackup(input: Readable, target: RestoreTarget): Promise<RestoreResult> {
  const { signal } = target;
  const loading = new AbortController();
  const abort = () => {
    loading.abort(signal?.reason);
    input.destroy();
  };
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    return await restore(input, target, loading.signal, () => {
      signal?.removeEventListener('abort', abort);
      target.beforeCommit?.();
    });
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

const sessionName = 'ownline restore';

/**
 * @param signal ends the connection
 * @param ignoreSignal called before the commit; from then on the signal ends nothing, because the outcome of an
 * interrupted commit is unknown
 */
async function restore(
  input: Readable,
  target: RestoreTarget,
  signal: AbortSignal,
  ignoreSignal: () => void,
): Promise<RestoreResult> {
  const reader = await BackupReader.open(input, target.passphrase);
  const { header } = reader;
  const client = await connectForBackup(target.databaseUrl, sessionName, signal);
  let processId: number | undefined;
  try {
    processId = await readProcessId(client);
    await lockBackups(client);
    await client.query('BEGIN');
    const load = await loadBackup(client, reader, {
      progress: target.progress,
      checkKey: (key) => refuseOtherKey(target.config, key),
    });
    await target.afterLoad(asTransaction(client), header);
    // The key is written before the commit: a database without its key would be lost, and a key without a database is
    // harmless.
    await keepSecretsKey(target.config, load.secretsKey);
    failpoint('restore key written');
    await writeSignedShortcuts(target.config.dataDir, load.shortcuts);
    failpoint('restore before commit');
    ignoreSignal();
    signal.throwIfAborted();
    await commit(client);
    failpoint('restore committed');
    await analyze(client, target.signal);
    return {
      taken_at: header.taken_at,
      backup_schema_version: header.schema_version,
      schema_version: schemaVersion,
      ...load.counts,
    };
  } catch (error) {
    throw explain(error);
  } finally {
    // Closing the connection ends its transaction, even during a COPY that waits for rows.
    input.destroy();
    await client.end().catch(() => undefined);
    if (signal.aborted && processId !== undefined) await endSession(target.databaseUrl, processId);
  }
}

/**
 * Collects the statistics of the restored tables. If that fails or a signal ends it, PostgreSQL analyzes the tables
 * later by itself.
 */
async function analyze(client: pg.Client, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  const end = () => void client.end().catch(() => undefined);
  signal?.addEventListener('abort', end);
  const analyzeAll = async () => {
    for (const { name } of await listTables(client)) await analyzeFilled(client, name);
  };
  await analyzeAll().catch(() => undefined);
  signal?.removeEventListener('abort', end);
}

async function readProcessId(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ id: number }>('SELECT pg_backend_pid() AS id');
  return rows[0]?.id;
}

/**
 * Ends the database session of an aborted restore. PostgreSQL may still work for a closed connection, and the session's
 * locks would make the next restore fail.
 */
async function endSession(databaseUrl: string, processId: number): Promise<void> {
  try {
    const client = await connectForBackup(databaseUrl, sessionName);
    await client
      .query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2',
        [processId, sessionName],
      )
      .finally(() => client.end());
  } catch {
    // The session ends by itself when PostgreSQL next writes to the closed connection.
  }
}

/**
 * Commits the restore. @throws BackupError if the connection was lost meanwhile: PostgreSQL may have committed or not
 */
async function commit(client: pg.Client): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    throw new BackupError(
      'The database ended the connection during the commit, so it is not known whether the backup was restored. ' +
        'Run `ownline restore --status`: `held: true` means that all of it was restored.',
      error,
    );
  }
}

/**
 * Makes the restore's connection usable for statements of use cases. Notifications are dropped, because no process
 * serves the database yet.
 */
function asTransaction(client: pg.Client): Transaction {
  return Object.assign(client, {
    transaction: true as const,
    notifyAfterCommit: () => undefined,
    afterCommit: () => undefined,
    recordChange: () => undefined,
    release: () => undefined,
  });
}

function explain(error: unknown): unknown {
  if (errorCodeOf(error) === '53100') {
    return new BackupError(
      `The disk of the database is full (${messageOf(error)}). Nothing was restored. Free space on that disk, then restore again.`,
      error,
    );
  }
  if (isDatabaseAway(error)) {
    return new BackupError(
      'The database ended the connection, so nothing was restored; its log says why. Restore again.',
      error,
    );
  }
  return error;
}
