import type { Writable } from 'node:stream';
import { failpoint } from '#server/platform/failpoint.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { type BackupHeader, formatVersion } from './backup-format.ts';
import { columnList, quoteName } from './backup-tables.ts';
import { BackupWriter } from './backup-writer.ts';
import { copyOut } from './copy-out.ts';
import { createKey } from './passphrase.ts';
import type { Progress } from './progress.ts';
import { readSignedShortcuts } from './signed-shortcuts.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';

export interface BackupSource {
  readonly databaseUrl: string;
  readonly secretsKey: Buffer;
  readonly dataDir: string;
  /** undefined: the backup is not encrypted. */
  readonly passphrase: string | undefined;
  readonly serviceTime: () => Date;
  readonly progress?: Progress;
  /** Aborts the backup, which then fails. */
  readonly signal?: AbortSignal;
}

/** The figures of a backup, as `ownline backup --json` shows them. */
export interface BackupResult {
  readonly bytes: number;
  readonly taken_at: string;
  readonly schema_version: number;
  readonly tables: number;
  readonly rows: number;
  readonly sha256: string;
  readonly encrypted: boolean;
}

/** Writes a backup of one moment to a stream, and ends it. @throws the error of the database or of the stream */
export async function createBackup(source: BackupSource, destination: Writable): Promise<BackupResult> {
  const encrypted = source.passphrase === undefined ? undefined : await createKey(source.passphrase);
  const shortcuts = await readSignedShortcuts(source.dataDir);
  const snapshot = await openSnapshot(source.databaseUrl, source.signal);
  // The time is read after the snapshot was taken, so no row of the backup is younger. Taking the locks may last
  // seconds.
  const takenAt = source.serviceTime();
  let writer: BackupWriter | undefined;
  try {
    const header: BackupHeader = {
      format: formatVersion,
      product_version: productVersion,
      schema_version: snapshot.schemaVersion,
      taken_at: takenAt.toISOString(),
      encryption: encrypted?.encryption ?? null,
    };
    writer = new BackupWriter(destination, header, encrypted?.key);
    const { tables, sequences } = snapshot;
    await writer.writeJson('manifest', {
      tables,
      sequences,
      secrets_key: source.secretsKey.toString('base64'),
      shortcuts,
    });
    failpoint('backup begun');
    const rows = await writeTables(snapshot, writer, source.progress);
    failpoint('backup rows written');
    await writer.writeJson('summary', { rows });
    const written = await writer.finish();
    return {
      ...written,
      taken_at: header.taken_at,
      schema_version: header.schema_version,
      tables: tables.length,
      rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
      encrypted: encrypted !== undefined,
    };
  } catch (error) {
    await writer?.abort(error instanceof Error ? error : new Error(String(error)));
    throw error;
  } finally {
    await snapshot.close();
  }
}

/** @returns the number of rows of each table */
async function writeTables(
  { client, tables }: Snapshot,
  writer: BackupWriter,
  progress: Progress | undefined,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    await writer.writeJson('table', { name: table.name });
    progress?.begin(table.name);
    counts[table.name] = await copyOut(
      client,
      `COPY (SELECT ${columnList(table)} FROM ${quoteName(table.name)}) TO STDOUT`,
      async (rows) => {
        await writer.write('rows', rows);
        progress?.add(rows.length);
      },
    );
    failpoint('backup table written');
  }
  return counts;
}
