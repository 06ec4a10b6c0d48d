import { createHash } from 'node:crypto';
import { BackupError, DamagedBackupError } from './backup-error.ts';

/*
 * The file of a backup (decision 0037). It begins with the line "Ownline backup". A header follows: 4 bytes of length,
 * JSON, and the SHA-256 of all bytes up to here, which is the hash of the prologue.
 *
 * Frames come next: 1 byte, which is 1 for the last one and else 0; 4 bytes of length; that many bytes; a tag of 16
 * bytes. The trailer is the SHA-256 of all bytes before it.
 *
 * The frames together are one zstd stream of records: 1 byte of kind, 4 bytes of length, that many bytes. Numbers are
 * big-endian. A frame's tag covers its place, whether it is the last one, the prologue and its bytes. With a passphrase
 * the tag is that of AES-256-GCM. So a frame that is changed, moved, repeated or missing is noticed before it is used.
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

/** How the key is derived from the passphrase, with scrypt. */
export interface Encryption {
  readonly cipher: 'aes-256-gcm';
  readonly scrypt: { readonly n: number; readonly r: number; readonly p: number };
  /** Base64. */
  readonly salt: string;
  /** Base64: a value that is derived beside the key. It tells a wrong passphrase from a damaged file. */
  readonly key_check: string;
}

/** The part of a backup that can be read without the passphrase. */
export interface BackupHeader {
  readonly format: number;
  readonly product_version: string;
  readonly schema_version: number;
  /** ISO 8601, in the service's time: the moment of the snapshot. */
  readonly taken_at: string;
  readonly encryption: Encryption | null;
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface BackupSequence {
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

export interface BackupManifest {
  /** Tables in the order in which a restore can load them: a table comes after those that its foreign keys refer to. */
  readonly tables: readonly BackupTable[];
  readonly sequences: readonly BackupSequence[];
  /** Base64. */
  readonly secrets_key: string;
  /** Signed shortcut files of DATA_DIR/shortcuts; `data` is base64. */
  readonly shortcuts: readonly { readonly name: string; readonly data: string }[];
}

/** The number of rows of each table, by name. */
export interface BackupSummary {
  readonly rows: Readonly<Record<string, number>>;
}

/** @returns the bytes up to the first frame, and their hash, which every frame's tag covers */
export function encodePrologue(header: BackupHeader): { readonly bytes: Buffer; readonly hash: Buffer } {
  const json = Buffer.from(JSON.stringify(header));
  const start = Buffer.concat([magic, encodeLength(json.length), json]);
  const hash = createHash('sha256').update(start).digest();
  return { bytes: Buffer.concat([start, hash]), hash };
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
