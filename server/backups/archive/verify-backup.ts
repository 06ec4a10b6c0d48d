import type { Readable } from 'node:stream';
import { DamagedBackupError } from './backup-error.ts';
import { BackupManifest, BackupSummary, type Progress, parseRecord, TableRecord } from './backup-format.ts';
import { BackupReader } from './backup-reader.ts';
import type { BackupResult } from './create-backup.ts';

/**
 * Reads a whole backup without a database: its checksums, its compression, and the number of rows of each table.
 * @returns `rowBytes`: the size of all rows in the text format of COPY, uncompressed
 * @throws BackupError if a restore would refuse the backup
 */
export async function verifyBackup(
  input: Readable,
  passphrase: string | undefined,
  progress?: Progress,
  now?: Date,
) {
  const reader = await BackupReader.open(input, passphrase, now);
  const content = new BackupContent();
  let rowBytes = 0;
  for await (const { kind, payload } of reader.records()) {
    const { table } = content.take(kind, payload);
    if (kind === 'table') progress?.begin(table);
    if (kind === 'rows') {
      progress?.add(payload.length);
      rowBytes += payload.length;
    }
  }
  const { header } = reader;
  const result: BackupResult = {
    ...reader.read(),
    taken_at: header.taken_at,
    schema_version: header.schema_version,
    ...content.finish(),
    encrypted: header.encryption !== null,
  };
  return { result, rowBytes };
}

/** Checks the order of the records of a backup, and counts the rows. Both verification and restore use it. */
export class BackupContent {
  #manifest: BackupManifest | undefined;
  #summary: BackupSummary | undefined;
  #table = '';
  readonly #rows: Record<string, number> = {};

  /** The manifest, which is the first record. */
  get manifest(): BackupManifest {
    if (!this.#manifest) throw new DamagedBackupError('it has no list of its tables');
    return this.#manifest;
  }

  /** Takes the next record. @returns the table that the record belongs to */
  take(kind: string, payload: Buffer): { readonly table: string } {
    if (this.#summary || (kind === 'manifest') === (this.#manifest !== undefined)) {
      throw new DamagedBackupError('its records are out of order');
    }
    if (kind === 'manifest') this.#manifest = parseRecord(BackupManifest, payload, 'list of tables');
    if (kind === 'summary') this.#summary = parseRecord(BackupSummary, payload, 'summary');
    if (kind === 'table') {
      this.#table = parseRecord(TableRecord, payload, 'record of a table').name;
      this.#rows[this.#table] = 0;
    }
    if (kind === 'rows') this.#rows[this.#table] = (this.#rows[this.#table] ?? 0) + countRows(payload);
    return { table: this.#table };
  }

  /** Call it after the last record. @throws DamagedBackupError if rows are missing */
  finish(): { readonly tables: number; readonly rows: number } {
    const { tables } = this.manifest;
    if (!this.#summary) throw new DamagedBackupError('it has no summary of its rows');
    for (const { name } of tables) {
      if (this.#rows[name] !== this.#summary.rows[name]) {
        throw new DamagedBackupError(`the number of rows of the table ${name} differs from its summary`);
      }
    }
    return {
      tables: tables.length,
      rows: Object.values(this.#rows).reduce((sum, count) => sum + count, 0),
    };
  }
}

const lineBreak = 0x0a;

/**
 * Counts rows by their line breaks: COPY ends each row with a line break, and writes a line break inside a text as
 * `\n`.
 */
export function countRows(rows: Buffer): number {
  let count = 0;
  for (let at = rows.indexOf(lineBreak); at >= 0; at = rows.indexOf(lineBreak, at + 1)) count += 1;
  return count;
}
