import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { BackupError } from './backup-error.ts';
import { BackupHeader, BackupManifest, BackupSummary, TableRecord } from './backup-format.ts';

/*
 * The JSON of a backup. Its bytes have passed their checksums, which anyone can compute: only a passphrase shows that
 * Ownline wrote them. So each field is checked before it is used.
 */

/** The format of backups from before the first release, which have tables by month. */
const unreleasedFormat = 1;

/** How far the clock of the machine that wrote a backup may be ahead. */
const aheadMaxMs = 86_400_000;

/**
 * Parses and checks the header of a backup. @throws BackupError if the JSON is no header, the header of a newer format,
 * or one from the future
 */
export function parseHeader(json: Buffer, formatMax: number, now: Date): BackupHeader {
  const value = parse(json, 'header');
  const { format, product_version: release } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (format === unreleasedFormat)
    throw new BackupError(
      'The backup was written by Ownline from before its first release, and no release reads it. Restore it with the program ' +
        'that wrote it.',
    );
  if (typeof format === 'number' && format > formatMax) {
    throw new BackupError(
      `The backup was written by a newer release of Ownline (${typeof release === 'string' ? release : 'unknown'}), in a format ` +
        'that this one does not read. Use that release or a later one.',
    );
  }
  const header = checked(BackupHeader, value, 'header');
  const takenAtMs = Date.parse(header.taken_at);
  if (Number.isNaN(takenAtMs)) throw notOurs('header');
  if (takenAtMs - now.getTime() <= aheadMaxMs) return header;
  throw new BackupError(
    `The backup says that it was taken at ${header.taken_at}, and here it is ${now.toISOString()}. If that is wrong, set the clock of ` +
      'this machine, and try again. Otherwise another program made or changed the file: take another backup.',
  );
}

/** @throws BackupError */
export function parseManifest(json: Buffer): BackupManifest {
  return checked(BackupManifest, parse(json, 'list of tables'), 'list of tables');
}

/** @returns the name of the table whose rows follow @throws BackupError */
export function parseTable(json: Buffer): string {
  return checked(TableRecord, parse(json, 'record of a table'), 'record of a table').name;
}

/** @throws BackupError */
export function parseSummary(json: Buffer): BackupSummary {
  return checked(BackupSummary, parse(json, 'summary'), 'summary');
}

function parse(json: Buffer, part: string): unknown {
  try {
    return JSON.parse(json.toString());
  } catch (error) {
    throw notOurs(part, error);
  }
}

function checked<Schema extends TSchema>(schema: Schema, value: unknown, part: string): Static<Schema> {
  if (Check(schema, value)) return value;
  throw notOurs(part);
}

function notOurs(part: string, cause?: unknown): BackupError {
  return new BackupError(
    `The ${part} in the file has a form that Ownline does not write, although its checksum is right: another program made or changed ` +
      'the file. Take another copy of it, or another backup. Nothing of it was used.',
    cause,
  );
}
