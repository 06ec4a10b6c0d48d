import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  randomInt,
} from 'node:crypto';
import { crc32 } from 'node:zlib';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Hash of secrets that are only compared, never read: keys and tokens have 128 random bits or more. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** 32 random bytes as base64url, 43 characters: the last part of links. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

export function randomBase62(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(62))).join('');
}

/** CRC-32 in six base62 characters: detects a mistyped key without the database. */
export function checksum(text: string): string {
  let left = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place += 1) {
    digits = base62.charAt(left % 62) + digits;
    left = Math.floor(left / 62);
  }
  return digits;
}

/**
 * SECRETS_KEY as it is written: 32 bytes in base64. undefined for anything else: Buffer.from alone skips other
 * characters, and would find a key in any text.
 */
export function parseSecretsKey(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
const sealing = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Keys derived from SECRETS_KEY, one per purpose, so that one cannot replace another. */
export class Secrets {
  readonly #secretsKey: Buffer;
  #mediaKey: Buffer | undefined;

  constructor(secretsKey: Buffer) {
    this.#secretsKey = secretsKey;
  }

  /** Stored in the database, so that a process with another key is refused at start. */
  fingerprint(): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secretsKey, '', 'fingerprint', 16));
  }

  /** The device token that a setup link gives, the same each time (specification section 11.1). */
  deviceToken(setupToken: string): string {
    const key = Buffer.from(hkdfSync('sha256', this.#secretsKey, '', 'device token', 32));
    return `dev_${createHmac('sha256', key).update(setupToken).digest('base64url')}`;
  }

  /** The token of the public link to a message's file: 128 bits, the same each time (specification section 2.8). */
  mediaToken(messageId: string): string {
    this.#mediaKey ??= Buffer.from(hkdfSync('sha256', this.#secretsKey, '', 'media link', 32));
    return createHmac('sha256', this.#mediaKey)
      .update(messageId)
      .digest()
      .subarray(0, 16)
      .toString('base64url');
  }

  /**
   * Seals a value that has to be read again, for the database: encrypts it with AES-256-GCM.
   * @param purpose the kind of value, such as `mail`: a value sealed for one purpose is not opened for another
   * @returns a random nonce of 12 bytes, the tag of 16, and the encrypted UTF-8
   */
  seal(purpose: string, plain: string): Buffer {
    // 96 random bits per text: safe for some four billion texts of one purpose, far more than ours.
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(sealing, this.#sealingKey(purpose), nonce);
    const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
  }

  /** @throws where it was sealed for another purpose or with another key, or was changed */
  open(purpose: string, sealed: Buffer): string {
    const decipher = createDecipheriv(sealing, this.#sealingKey(purpose), sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const encrypted = sealed.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  }

  #sealingKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secretsKey, '', `seal ${purpose}`, 32));
  }
}
