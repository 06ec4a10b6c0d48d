import { Readable, Writable } from 'node:stream';

/** A writable stream that keeps the written bytes. */
export function memoryDestination(): { readonly stream: Writable; readonly bytes: () => Buffer } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part);
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(parts) };
}

/** A readable stream with chunks of an odd size, so that frames do not end where chunks do. */
export function memorySource(bytes: Buffer, partBytes = 65_537): Readable {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += partBytes) parts.push(bytes.subarray(at, at + partBytes));
  return Readable.from(parts);
}
