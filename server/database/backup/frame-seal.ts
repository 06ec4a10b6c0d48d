import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { tagBytes } from './backup-format.ts';

/** A frame on its way into the file, or out of it. */
export interface SealedFrame {
  readonly bytes: Buffer;
  readonly tag: Buffer;
}

/** Seals the frames of one file in their order. Each file has a key of its own, so no nonce is used twice. */
export class FrameSeal {
  readonly #key: Buffer | undefined;
  readonly #prologueHash: Buffer;
  #place = 0;

  /** @param key 32 bytes, derived for this file alone; undefined: frames are checked and not encrypted */
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

  /** @returns undefined where the frame is not the one that was written at this place */
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

  /** 12 bytes: the place of the frame, and whether it is the last one. */
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
