import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackup } from '#server/backups/archive/create-backup.ts';
import { restoreBackup } from '#server/backups/archive/restore-backup.ts';
import { memoryDestination, memorySource } from './memory-stream.ts';

/** A secrets key for databases that no service uses. */
export const secretsKeyOfTests = Buffer.alloc(32, 9);

/** Writes a backup of a database whose key is `secretsKeyOfTests`. */
export async function backUp(databaseUrl: string): Promise<Buffer> {
  const { stream, bytes } = memoryDestination();
  const source = { databaseUrl, dataDir: tmpdir(), secretsKey: secretsKeyOfTests, passphrase: undefined };
  await createBackup({ ...source, serviceTime: () => new Date() }, stream);
  return bytes();
}

/**
 * Restores a backup into an empty database, without the restore hold and the other changes after loading.
 * @param config by default a new DATA_DIR, which is deleted afterwards
 */
export async function restoreCopy(
  backup: Buffer,
  databaseUrl: string,
  config: { readonly dataDir?: string; readonly secretsKey?: Buffer } = {},
): Promise<void> {
  const newDir = await mkdtemp(join(tmpdir(), 'ownline-restored-'));
  try {
    await restoreBackup(memorySource(backup), {
      databaseUrl,
      config: { dataDir: newDir, secretsKey: undefined, ...config },
      passphrase: undefined,
      afterLoad: async () => undefined,
    });
  } finally {
    await rm(newDir, { recursive: true, force: true });
  }
}
