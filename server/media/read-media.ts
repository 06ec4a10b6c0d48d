import type { Queryable } from '#server/database/statement.ts';
import type { ByteRange } from '#server/platform/http/byte-range.ts';
import { mediaChunkBytes } from './limits.ts';
import { type MediaFile, readMediaChunk } from './media-store.ts';

/** Reads a part of a file, chunk by chunk: each is read once the one before was taken, in a statement of its own. */
export async function* readMedia(
  db: Queryable,
  file: MediaFile,
  { start, end }: ByteRange = { start: 0, end: file.size_bytes - 1 },
): AsyncGenerator<Buffer, void> {
  const last = Math.floor(end / mediaChunkBytes);
  for (let position = Math.floor(start / mediaChunkBytes); position <= last; position += 1) {
    const offset = position * mediaChunkBytes;
    const data = await readMediaChunk(db, file, position);
    yield data.subarray(Math.max(0, start - offset), Math.min(data.length, end + 1 - offset));
  }
}
