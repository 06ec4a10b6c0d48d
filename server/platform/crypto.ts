import { createHash, createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** How secrets are kept where they only have to be recognised: keys and tokens carry 128 bits or more. */
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

/** CRC-32 in six base62 characters, so that a mistyped key is told apart without the database. */
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
 * SECRETS_KEY as it is written: 32 bytes in base64. undefined for anything else: Buffer.from alone would skip over
 * what is none, and find a key where nobody wrote one.
 */
export function parseSecretsKey(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** What is derived from SECRETS_KEY: one key per purpose, so that none can stand in for another. */
export class Secrets {
  readonly #secretsKey: Buffer;

  constructor(secretsKey: Buffer) {
    this.#secretsKey = secretsKey;
  }

  /** Kept in the database, so that a process with another key is refused at start. */
  fingerprint(): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secretsKey, '', 'fingerprint', 16));
  }

  /** The device token that a setup link gives, the same each time (specification section 11.1). */
  deviceToken(setupToken: string): string {
    const key = Buffer.from(hkdfSync('sha256', this.#secretsKey, '', 'device token', 32));
    return `dev_${createHmac('sha256', key).update(setupToken).digest('base64url')}`;
  }
}
