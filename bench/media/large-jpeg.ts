import { createHash } from 'node:crypto';

/** A file of 5 MiB with the first bytes of a JPEG, and every value of a byte. */
export function largeJpeg(): Buffer {
  const file = Buffer.alloc(
    5 * 1_024 * 1_024,
    Uint8Array.from({ length: 257 }, (_, n) => n),
  );
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').copy(file);
  return file;
}

/** Its SHA-256 as a phone prints it: hexadecimal. */
export function largeJpegSha256(): string {
  return createHash('sha256').update(largeJpeg()).digest('hex');
}
