import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { tagBytes } from './backup-format.ts';

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
