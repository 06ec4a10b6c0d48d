import { BackupReader, type BackupRecord } from '#server/database/backup/backup-reader.ts';
import { BackupWriter } from '#server/database/backup/backup-writer.ts';
import { memoryDestination, memorySource } from './memory-stream.ts';

/** Replaces the records of a backup and corrects its checksums, as another program could write it. */
export async function rewriteBackup(
  backup: Buffer,
  change: (record: BackupRecord) => Buffer,
): Promise<Buffer> {
  const reader = await BackupReader.open(memorySource(backup), undefined);
  const { stream, bytes } = memoryDestination();
  const writer = new BackupWriter(stream, reader.header, undefined);
  for await (const record of reader.records()) await writer.write(record.kind, change(record));
  await writer.finish();
  return bytes();
}
