import type { Queryable } from '#server/database/statement.ts';
import type { ByteRange } from '#server/platform/http/byte-range.ts';
import { mediaSliceBytes } from './limits.ts';
import { type MediaFile, readMediaSlice } from './media-store.ts';

/**
 * Reads a range of a file in slices, with one statement each. The next statement runs once the reader has taken the
 * previous slice.
 */
export async function* readMedia(
  db: Queryable,
  file: MediaFile,
  { start, end }: ByteRange = { start: 0, end: file.size_bytes - 1 },
): AsyncGenerator<Buffer, void> {
  for (let offset = start; offset <= end; ) {
    const slice = await readMediaSlice(db, file, offset, Math.min(mediaSliceBytes, end + 1 - offset));
    yield slice;
    offset += slice.length;
  }
}
