import type { BackupHeader } from '#server/backups/archive/backup-format.ts';
import { BackupReader, type BackupRecord } from '#server/backups/archive/backup-reader.ts';
import { BackupWriter } from '#server/backups/archive/backup-writer.ts';
import { memoryDestination, memorySource } from './memory-stream.ts';

/** Replaces records and fields of the header of a backup and corrects its checksums, as another program could write it. */
export async function rewriteBackup(
  backup: Buffer,
  change: (record: BackupRecord) => Buffer,
  header: Partial<BackupHeader> = {},
): Promise<Buffer> {
  const reader = await BackupReader.open(memorySource(backup), undefined);
  const { stream, bytes } = memoryDestination();
  const writer = new BackupWriter(stream, { ...reader.header, ...header }, undefined);
  for await (const record of reader.records()) await writer.write(record.kind, change(record));
  await writer.finish();
  return bytes();
}

/** Removes the rows of tables from a backup, as another program could. */
export function withoutRowsOf(backup: Buffer, names: readonly string[]): Promise<Buffer> {
  let isRemoved = false;
  return rewriteBackup(backup, ({ kind, payload }) => {
    if (kind === 'table') isRemoved = names.includes(JSON.parse(payload.toString()).name);
    if (kind === 'rows' && isRemoved) return Buffer.alloc(0);
    if (kind !== 'summary') return payload;
    const { rows } = JSON.parse(payload.toString());
    return Buffer.from(
      JSON.stringify({ rows: { ...rows, ...Object.fromEntries(names.map((name) => [name, 0])) } }),
    );
  });
}
