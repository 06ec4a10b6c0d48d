import { BackupError } from './backup-error.ts';
import type { BackupHeader, BackupManifest, BackupSummary } from './backup-format.ts';

/*
 * The JSON of a backup. Its bytes have passed their checksums, which anyone can compute: only a passphrase shows that
 * Ownline wrote them. So each field is checked before it is used.
 */

type Check = (value: unknown) => boolean;

/** PostgreSQL and file systems refuse NUL. */
const isText: Check = (value) => typeof value === 'string' && !value.includes('\0');
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isInteger: Check = (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value);
const isMoment: Check = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && !Number.isNaN(Date.parse(value));
const isListOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);
const isObjectOf =
  (isField: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(isField);
const hasFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, isField]) => isField(value[name]));

const isEncryption = hasFields({
  cipher: isText,
  scrypt: hasFields({ n: isCount, r: isCount, p: isCount }),
  salt: isText,
  key_check: isText,
});
const isHeader = hasFields({
  format: isCount,
  product_version: isText,
  schema_version: isCount,
  taken_at: isMoment,
  encryption: (value) => value === null || isEncryption(value),
});
const isManifest = hasFields({
  tables: isListOf(hasFields({ name: isText, columns: isListOf(isText) })),
  sequences: isListOf(hasFields({ name: isText, last_value: isInteger, is_called: isFlag })),
  secrets_key: isText,
  shortcuts: isListOf(hasFields({ name: isText, data: isText })),
});
const isTable = hasFields({ name: isText });
const isSummary = hasFields({ rows: isObjectOf(isCount) });

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
  const { format, product_version: release } = isObject(value) ? value : {};
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
  const header = checked<BackupHeader>(value, isHeader, 'header');
  if (Date.parse(header.taken_at) - now.getTime() <= aheadMaxMs) return header;
  throw new BackupError(
    `The backup says that it was taken at ${header.taken_at}, and here it is ${now.toISOString()}. If that is wrong, set the clock of ` +
      'this machine, and try again. Otherwise another program made or changed the file: take another backup.',
  );
}

/** @throws BackupError */
export function parseManifest(json: Buffer): BackupManifest {
  return checked<BackupManifest>(parse(json, 'list of tables'), isManifest, 'list of tables');
}

/** @returns the name of the table whose rows follow @throws BackupError */
export function parseTable(json: Buffer): string {
  return checked<{ readonly name: string }>(parse(json, 'record of a table'), isTable, 'record of a table')
    .name;
}

/** @throws BackupError */
export function parseSummary(json: Buffer): BackupSummary {
  return checked<BackupSummary>(parse(json, 'summary'), isSummary, 'summary');
}

function parse(json: Buffer, part: string): unknown {
  try {
    return JSON.parse(json.toString());
  } catch (error) {
    throw notOurs(part, error);
  }
}

function checked<T>(value: unknown, is: Check, part: string): T {
  if (is(value)) return value as T;
  throw notOurs(part);
}

function notOurs(part: string, cause?: unknown): BackupError {
  return new BackupError(
    `The ${part} in the file has a form that Ownline does not write, although its checksum is right: another program made or changed ` +
      'the file. Take another copy of it, or another backup. Nothing of it was used.',
    cause,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
