import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackup } from '#server/database/backup/create-backup.ts';
import { restoreBackup } from '#server/database/backup/restore-backup.ts';
import { readDatabaseContent } from '#test/support/database/database-content.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { memoryDestination, memorySource } from './memory-stream.ts';

/** A secrets key for databases that no service uses. */
export const secretsKeyOfTests = Buffer.alloc(32, 9);

interface BackedUpDatabase {
  readonly databaseUrl: string;
  /** The key that the database was filled with; by default `secretsKeyOfTests`. */
  readonly secretsKey?: Buffer;
}

/** Writes a backup of a database. */
export async function backUp({
  databaseUrl,
  secretsKey = secretsKeyOfTests,
}: BackedUpDatabase): Promise<Buffer> {
  const { stream, bytes } = memoryDestination();
  const source = { databaseUrl, dataDir: tmpdir(), secretsKey, passphrase: undefined };
  await createBackup({ ...source, serviceTime: () => new Date() }, stream);
  return bytes();
}

/** Restores a backup into an empty database, without the effects of a restore on messages that wait. */
export async function restoreCopy(backup: Buffer, databaseUrl: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-restored-'));
  try {
    await restoreBackup(memorySource(backup), {
      databaseUrl,
      config: { dataDir, secretsKey: undefined },
      passphrase: undefined,
      afterLoad: async () => undefined,
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Backs a database up, restores it into an empty one, and asserts that each table and sequence has the same
 * rows in both. Nothing may write to the database meanwhile.
 */
export async function assertRestoresWhole(database: BackedUpDatabase): Promise<void> {
  const restored = await createEmptyDatabase();
  try {
    await restoreCopy(await backUp(database), restored.url);
    assert.deepEqual(
      await readDatabaseContent(restored.url),
      await readDatabaseContent(database.databaseUrl),
    );
  } finally {
    await restored.close();
  }
}
