import { createHash } from 'node:crypto';

/** The namespace of the UUIDs in the shortcuts: random bytes that never change. */
const namespace = Buffer.from('6d0f3f0e4c7b4a6a9c0a2f5b8e1d7c39', 'hex');

/** Derives a UUID of version 5 from a name, in upper case as Shortcuts writes it. */
export function nameBasedUuid(name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes
    .toString('hex')
    .toUpperCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
