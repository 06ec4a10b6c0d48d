import { createHash } from 'node:crypto';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { BackupError, DamagedBackupError } from './backup-error.ts';

/** Receives the progress of a backup or restore. */
export interface Progress {
  /** @param table the table whose rows follow */
  begin(table: string): void;
  /** @param bytes size of the rows, uncompressed */
  add(bytes: number): void;
}

/*
 * The file of a backup (decision 0037). It begins with the line "Ownline backup". A header follows: 4 bytes of length,
 * JSON, and the SHA-256 of all bytes up to here, which is the hash of the prologue.
 *
 * Frames come next: 1 byte, which is 1 for the last one and else 0; 4 bytes of length; that many bytes; a tag of 16
 * bytes. The trailer is the SHA-256 of all bytes before it.
 *
 * The frames together are one zstd stream of records: 1 byte of kind, 4 bytes of length, that many bytes. Numbers are
 * big-endian. A frame's tag covers the frame's position, whether it is the last frame, the prologue, and the frame's
 * bytes. With a passphrase the tag is that of AES-256-GCM. So a frame that is changed, moved, repeated or missing is
 * noticed before it is used.
 */

const magic = Buffer.from('Ownline backup\n');
export const formatVersion = 2;
export const hashBytes = 32;
export const tagBytes = 16;

/** Largest frame, in bytes. A reader holds a frame in memory until its tag was checked. */
export const frameBytes = 256 * 1_024;
const headerMaxBytes = 16 * 1_024;

/** Largest record, in bytes. It is larger than `blockBytes`, because a single row may have some megabytes. */
export const recordMaxBytes = 64 * 1_024 * 1_024;

/** Kinds of records. A manifest comes first, a summary last; rows belong to the table that was named last. */
export const recordKinds = { manifest: 1, table: 2, rows: 3, summary: 4 } as const;
export type RecordKind = keyof typeof recordKinds;

/** PostgreSQL and file systems refuse NUL. */
const Text = Type.String({ pattern: '^[^\\0]*$' });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** How the key is derived from the passphrase, with scrypt. */
const Encryption = Type.Object({
  cipher: Text,
  scrypt: Type.Object({ n: Count, r: Count, p: Count }),
  /** Base64. */
  salt: Text,
  /** Base64: a value that is derived together with the key. It distinguishes a wrong passphrase from a damaged file. */
  key_check: Text,
});
export type Encryption = Static<typeof Encryption>;

/** The part of a backup that can be read without the passphrase. */
export const BackupHeader = Type.Object({
  format: Count,
  product_version: Text,
  schema_version: Count,
  /** ISO 8601, in the service's time: the moment of the snapshot. */
  taken_at: Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT[\d:.]+Z$` }),
  encryption: Type.Union([Type.Null(), Encryption]),
});
export type BackupHeader = Static<typeof BackupHeader>;

const BackupTable = Type.Object({ name: Text, columns: Type.Array(Text) });
export type BackupTable = Static<typeof BackupTable>;

const BackupSequence = Type.Object({
  name: Text,
  last_value: Type.String({ pattern: String.raw`^-?\d{1,19}$` }),
  is_called: Type.Boolean(),
});
export type BackupSequence = Static<typeof BackupSequence>;

export const BackupManifest = Type.Object({
  /** Tables in the order in which a restore can load them: a table comes after those that its foreign keys refer to. */
  tables: Type.Array(BackupTable),
  sequences: Type.Array(BackupSequence),
  /** Base64. */
  secrets_key: Text,
  /** Signed shortcut files of DATA_DIR/shortcuts; `data` is base64. */
  shortcuts: Type.Array(Type.Object({ name: Text, data: Text })),
});
export type BackupManifest = Static<typeof BackupManifest>;

/** Names the table whose rows follow. */
export const TableRecord = Type.Object({ name: Text });

/** The number of rows of each table, by name. */
export const BackupSummary = Type.Object({ rows: Type.Record(Type.String(), Count) });
export type BackupSummary = Static<typeof BackupSummary>;

/** @returns the bytes up to the first frame, and their hash, which every frame's tag covers */
export function encodePrologue(header: BackupHeader): { readonly bytes: Buffer; readonly hash: Buffer } {
  const json = Buffer.from(JSON.stringify(header));
  const start = Buffer.concat([magic, encodeLength(json.length), json]);
  const hash = createHash('sha256').update(start).digest();
  return { bytes: Buffer.concat([start, hash]), hash };
}

/** The size of a file and what `sha256sum` prints for it. */
export interface FileFigures {
  readonly bytes: number;
  readonly sha256: string;
}

export class FileDigest {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** @returns the same bytes */
  add(bytes: Buffer): Buffer {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    return bytes;
  }

  hash(): Buffer {
    return this.#hash.copy().digest();
  }

  figures(): FileFigures {
    return { bytes: this.#bytes, sha256: this.hash().toString('hex') };
  }
}

/** Bytes as they come from a file, a pipe or a decompressor. */
export interface ByteSource {
  /** Reads from the source. @returns exactly `bytes` bytes, or fewer at the end of the source */
  read(bytes: number): Promise<Buffer>;
}

/**
 * @returns the header's JSON, and the hash that every frame's tag covers @throws BackupError if the file is no backup
 */
export async function readPrologue(
  source: ByteSource,
): Promise<{ readonly json: Buffer; readonly hash: Buffer }> {
  const start = await source.read(magic.length);
  if (start.length === 0)
    throw new BackupError('The file is empty, so it is no backup. Name a file that `ownline backup` wrote.');
  if (!start.equals(magic)) {
    throw new BackupError('The file is no backup of Ownline. Name a file that `ownline backup` wrote.');
  }
  const lengthBytes = await readExactly(source, 4);
  const length = lengthBytes.readUInt32BE();
  if (length > headerMaxBytes) throw new DamagedBackupError('its header is longer than any backup has');
  const json = await readExactly(source, length);
  const hash = await readExactly(source, hashBytes);
  const bytes = Buffer.concat([start, lengthBytes, json]);
  if (!createHash('sha256').update(bytes).digest().equals(hash)) {
    throw new DamagedBackupError('the checksum of its header is wrong');
  }
  return { json, hash };
}

/** Reads exactly `bytes` bytes. @throws DamagedBackupError if the source has fewer bytes left */
export async function readExactly(source: ByteSource, bytes: number): Promise<Buffer> {
  const found = await source.read(bytes);
  if (found.length < bytes) throw new DamagedBackupError('it ends before its last byte');
  return found;
}

export function encodeLength(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

/*
 * The JSON of a backup. Its bytes have passed their checksums, which anyone can compute: only a passphrase shows that
 * Ownline wrote them. So each field is checked before it is used.
 */

/** The format of backups from before the first release, which have tables by month. */
const unreleasedFormat = 1;

/** How far the clock of the machine that wrote a backup may be ahead of this machine's clock. */
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

/** Parses and checks the JSON of a record. @param part names it in an error @throws BackupError */
export function parseRecord<Schema extends TSchema>(
  schema: Schema,
  json: Buffer,
  part: string,
): Static<Schema> {
  return checked(schema, parse(json, part), part);
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
