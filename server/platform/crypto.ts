import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  randomInt,
} from 'node:crypto';
import { crc32 } from 'node:zlib';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Hashes keys and tokens. They have at least 128 random bits, so a fast hash without a salt is safe. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** 32 random bytes in base64url, 43 characters, such as the token of a link. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

export function randomBase62(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(62))).join('');
}

/** CRC-32 in six base62 characters: it detects a mistyped key without a query. */
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
 * Parses SECRETS_KEY, 32 bytes in base64.
 * @returns undefined for any other text; Buffer.from alone would skip invalid characters and find a key in any text
 */
export function parseSecretsKey(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

const sealing = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Keys derived from SECRETS_KEY, one per purpose, so that a value of one purpose is invalid for all others. */
export class Secrets {
  readonly #secretsKey: Buffer;
  #mediaKey: Buffer | undefined;
  #contactKey: string | undefined;

  constructor(secretsKey: Buffer) {
    this.#secretsKey = secretsKey;
  }

  /** A hash of SECRETS_KEY, stored in the database: a process with another key is refused at start. */
  fingerprint(): Buffer {
    return this.#derive('fingerprint', 16);
  }

  /** Derives the device token of a setup link; a link always gets the same token (specification section 11.1). */
  deviceToken(routingTag: string, setupToken: string): string {
    return `dev_${routingTag}${createHmac('sha256', this.#derive('device token')).update(setupToken).digest('base64url')}`;
  }

  /** Token of the public link to a message's file: 128 bits, always the same (specification section 2.8). */
  mediaToken(messageId: string): string {
    this.#mediaKey ??= this.#derive('media link');
    const mac = createHmac('sha256', this.#mediaKey).update(messageId).digest();
    return mac.subarray(0, 16).toString('base64url');
  }

  /** A MAC that only a holder of SECRETS_KEY can make, 43 characters of base64url. @param purpose as for `seal` */
  mac(purpose: string, text: string): string {
    return createHmac('sha256', this.#derive(`mac ${purpose}`))
      .update(text)
      .digest('base64url');
  }

  /**
   * The keyed hash of a contact, by which its opt-out is found (specification section 12.14). It is the first half of
   * SHA-256 over a key of 256 bits and the contact, in hexadecimal. Half a hash cannot be extended to a longer input,
   * so no HMAC is needed. An HMAC would take four times as long in each send. The hash is stored as a uuid, because a
   * batch of sends passes uuids several times as fast as bytea.
   */
  contactHash(teamId: string, contact: string): string {
    this.#contactKey ??= this.#derive('contact').toString('hex');
    return hash('sha256', `${this.#contactKey} ${teamId} ${contact}`, 'hex').slice(0, 32);
  }

  /**
   * Seals a value that the database stores and the server reads again: encrypts it with AES-256-GCM.
   * @param purpose the kind of value, such as `mail`: a value sealed for one purpose can't be opened for another
   * @returns a random nonce of 12 bytes, the tag of 16, and the encrypted UTF-8
   */
  seal(purpose: string, plain: string): Buffer {
    // A random nonce of 96 bits is safe for four billion texts of one purpose, more than any installation has.
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(sealing, this.#derive(`seal ${purpose}`), nonce);
    const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
  }

  /** Opens a sealed value. @throws if the value was sealed for another purpose or with another key, or was changed */
  open(purpose: string, sealed: Buffer): string {
    const decipher = createDecipheriv(
      sealing,
      this.#derive(`seal ${purpose}`),
      sealed.subarray(0, nonceBytes),
      {
        authTagLength: tagBytes,
      },
    );
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const encrypted = sealed.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  }

  #derive(purpose: string, bytes = 32): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secretsKey, '', purpose, bytes));
  }
}
