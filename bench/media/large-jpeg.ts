import { createHash } from 'node:crypto';

/** A file of 5 MiB with the header of a JPEG. Every byte value occurs in it. */
export function largeJpeg(): Buffer {
  const file = Buffer.alloc(
    5 * 1_024 * 1_024,
    Uint8Array.from({ length: 257 }, (_, n) => n),
  );
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').copy(file);
  return file;
}

/** The SHA-256 of the file as a simulated phone prints it, in hexadecimal. */
export function largeJpegSha256(): string {
  return createHash('sha256').update(largeJpeg()).digest('hex');
}
