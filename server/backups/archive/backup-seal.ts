import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { fileErrorSentence } from '#server/platform/error-code.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import { type Encryption, tagBytes } from './backup-format.ts';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Parameters of scrypt: each guess of a passphrase costs 128 MB and some tenths of a second. */
const parameters = { n: 131_072, r: 8, p: 1 };
/** Upper bound on the memory that the header of a file can demand of the reader. */
const memoryMaxBytes = 256 * 1_024 * 1_024;
const keyBytes = 32;
const checkBytes = 16;

/** @returns the passphrase: the text of the file without the line break at its end */
export async function readPassphraseFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new BackupError(
      `The passphrase file ${path} can't be read: ${fileErrorSentence(error)}. Name a file that has the passphrase in it.`,
      error,
    );
  });
  const passphrase = text.replace(/\r?\n$/, '');
  if (passphrase.trim() !== '') return passphrase;
  throw new BackupError(
    `The passphrase file ${path} is empty. Write a passphrase into it, such as \`openssl rand -base64 24\` prints.`,
  );
}

/** Derives a key for one new backup file. */
export async function createKey(
  passphrase: string,
): Promise<{ readonly key: Buffer; readonly encryption: Encryption }> {
  const salt = randomBytes(16);
  const { key, check } = await deriveKey(passphrase, salt, parameters);
  return {
    key,
    encryption: {
      cipher: 'aes-256-gcm',
      scrypt: parameters,
      salt: salt.toString('base64'),
      key_check: check.toString('base64'),
    },
  };
}

/** Derives the key of an existing backup file. @throws BackupError if the passphrase is wrong */
export async function openKey(passphrase: string, encryption: Encryption): Promise<Buffer> {
  const { n, r, p } = encryption.scrypt;
  const isBounded = [n, r, p].every((value) => Number.isSafeInteger(value) && value > 0) && p <= 4;
  if (encryption.cipher !== 'aes-256-gcm' || !isBounded || 128 * n * r > memoryMaxBytes / 2)
    throw unknownEncryption();
  const salt = Buffer.from(encryption.salt, 'base64');
  // Node refuses some parameters, such as an `n` that is no power of 2.
  const { key, check } = await deriveKey(passphrase, salt, { n, r, p }).catch((error: unknown) => {
    throw unknownEncryption(error);
  });
  const kept = Buffer.from(encryption.key_check, 'base64');
  if (kept.length === check.length && timingSafeEqual(kept, check)) return key;
  throw new BackupError('The passphrase is wrong. Use the one that this backup was written with.');
}

function unknownEncryption(cause?: unknown): DamagedBackupError {
  return new DamagedBackupError('its header asks for an encryption that no release has used', cause);
}

async function deriveKey(
  passphrase: string,
  salt: Buffer,
  { n, r, p }: Encryption['scrypt'],
): Promise<{ readonly key: Buffer; readonly check: Buffer }> {
  const derived = await derive(passphrase, salt, keyBytes + checkBytes, {
    N: n,
    r,
    p,
    maxmem: memoryMaxBytes,
  });
  return { key: derived.subarray(0, keyBytes), check: derived.subarray(keyBytes) };
}

/** A frame as it is in the file: its bytes, encrypted if there is a key, and their tag. */
export interface SealedFrame {
  readonly bytes: Buffer;
  readonly tag: Buffer;
}

/** Seals the frames of one file in their order. Each file has a key of its own, so no nonce is used twice. */
export class FrameSeal {
  readonly #key: Buffer | undefined;
  readonly #prologueHash: Buffer;
  #place = 0;

  /** @param key 32 bytes, derived for this file alone; undefined: frames get a checksum, and are not encrypted */
  constructor(prologueHash: Buffer, key: Buffer | undefined) {
    this.#prologueHash = prologueHash;
    this.#key = key;
  }

  seal(plain: Buffer, isLast: boolean): SealedFrame {
    const nonce = this.#nonce(isLast);
    if (!this.#key) return { bytes: plain, tag: this.#checksum(nonce, plain) };
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(this.#prologueHash);
    const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
    return { bytes, tag: cipher.getAuthTag() };
  }

  /** Opens a frame: checks its tag and decrypts it. @returns undefined if another frame was written at this position */
  open({ bytes, tag }: SealedFrame, isLast: boolean): Buffer | undefined {
    const nonce = this.#nonce(isLast);
    if (!this.#key) return this.#checksum(nonce, bytes).equals(tag) ? bytes : undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(this.#prologueHash).setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(bytes), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  /** 12 bytes: the position of the frame, and whether it is the last one. */
  #nonce(isLast: boolean): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(BigInt(this.#place), 3);
    nonce.writeUInt8(isLast ? 1 : 0, 11);
    this.#place += 1;
    return nonce;
  }

  #checksum(nonce: Buffer, bytes: Buffer): Buffer {
    const hash = createHash('sha256').update(this.#prologueHash).update(nonce).update(bytes);
    return hash.digest().subarray(0, tagBytes);
  }
}
