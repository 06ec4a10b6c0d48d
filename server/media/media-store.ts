import { timingSafeEqual } from 'node:crypto';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { ByteRange } from '#server/http/stream-answer.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type MediaId, type MessageId, publicId, type TeamId } from '#server/platform/ids.ts';
import { incompleteMediaMs, mediaChunkBytes, mediaSliceBytes } from './limits.ts';
import { purgeUploads } from './upload-store.ts';

/**
 * Creates the public link of an inbound message's file (specification section 2.8). Its token is derived from
 * SECRETS_KEY and the message: so the token needs no storage, and a wrong one is refused without a query.
 */
export function mediaLink({ config, secrets }: Runtime, messageId: MessageId, name: string): string {
  const id = publicId('msg', messageId);
  return `${config.baseUrl}/media/${id}/${secrets.mediaToken(id)}/${name}`;
}

/** Whether a token belongs to the message's link; compared in constant time. */
export function isMediaToken({ secrets }: Runtime, messageId: MessageId, token: string): boolean {
  return timingSafeEqual(sha256(secrets.mediaToken(publicId('msg', messageId))), sha256(token));
}

/** The key of one try to store a file, which belongs to a message or to an upload. */
export interface MediaFileKey {
  readonly message_id: MessageId | MediaId;
  readonly file_id: number;
}

/** A complete file, without its bytes. */
export interface MediaFile extends MediaFileKey {
  readonly team_id: TeamId;
  readonly name: string;
  readonly type: string;
  readonly size_bytes: number;
  readonly sha256: Buffer;
}

/** Begins a file. Readers do not find the file before `completeMediaFile` has run. */
export const createMediaFile = query<
  {
    teamId: TeamId;
    messageId: MessageId | MediaId;
    name: string;
    type: string;
    at: Date;
    expiresAt: Date | null;
  },
  MediaFileKey
>(
  'media.create',
  `INSERT INTO media (message_id, team_id, name, type, created_at, expires_at)
   VALUES (:messageId, :teamId, :name, :type, :at, :expiresAt)
   RETURNING message_id, file_id`,
).one;

/**
 * Appends a chunk to a file. It locks the row of the file, so that a purge of the file waits for this chunk.
 * @returns false if the file was removed meanwhile: its writer has to stop
 */
export const appendMediaChunk = query<MediaFileKey & { position: number; data: Buffer }>(
  'media.append',
  `WITH file AS MATERIALIZED (
     SELECT team_id, message_id, file_id FROM media
     WHERE message_id = :message_id AND file_id = :file_id AND NOT is_complete FOR KEY SHARE
   )
   INSERT INTO media_chunks (team_id, message_id, file_id, position, data)
   SELECT team_id, message_id, file_id, :position, :data FROM file RETURNING position`,
).hasRow;

/** Completes a file, so that readers find it. @returns false if the file was removed meanwhile */
export const completeMediaFile = transactionQuery<MediaFileKey & { sizeBytes: number; sha256: Buffer }>(
  'media.complete',
  `UPDATE media SET is_complete = true, size_bytes = :sizeBytes, sha256 = :sha256
   WHERE message_id = :message_id AND file_id = :file_id AND NOT is_complete RETURNING message_id, file_id`,
).hasRow;

/**
 * Finds the complete file of a message or an upload. The caller has checked that it belongs to the reader's team.
 */
export const findMediaFile = query<{ messageId: MessageId | MediaId }, MediaFile>(
  'media.find',
  `SELECT message_id, file_id, team_id, name, type, size_bytes, sha256 FROM media WHERE message_id = :messageId AND is_complete`,
).row;

// The driver reads results as text: base64 is a third smaller than the hexadecimal form of bytea.
const readSlice = query<
  MediaFileKey & { position: number; start: number; bytesMax: number },
  { data: string }
>(
  'media.read-slice',
  `SELECT encode(substring(data FROM :start + 1 FOR :bytesMax), 'base64') AS data FROM media_chunks
   WHERE message_id = :message_id AND file_id = :file_id AND position = :position`,
).row;
const lockIncomplete = transactionQuery<{ messageIds: readonly (MessageId | MediaId)[] }, MediaFileKey>(
  'media.lock-incomplete',
  `SELECT message_id, file_id FROM media WHERE message_id = ANY(:messageIds::uuid[]) AND NOT is_complete
   ORDER BY message_id, file_id FOR UPDATE`,
).rows;
const lockAbandoned = transactionQuery<{ before: Date; limit: number }, MediaFileKey>(
  'media.lock-abandoned',
  `SELECT message_id, file_id FROM media WHERE created_at <= :before AND NOT is_complete
   ORDER BY created_at LIMIT :limit FOR UPDATE SKIP LOCKED`,
).rows;
const remove = query<{ messageIds: (MessageId | MediaId)[]; fileIds: number[] }>(
  'media.remove',
  `DELETE FROM media m USING unnest(:messageIds::uuid[], :fileIds::bigint[]) AS f (message_id, file_id)
   WHERE m.message_id = f.message_id AND m.file_id = f.file_id AND NOT m.is_complete RETURNING m.message_id, m.file_id`,
).run;

/** Removes all files of messages. */
export const removeMediaOf = transactionQuery<{ messageIds: readonly MessageId[] }>(
  'media.remove-of-messages',
  'DELETE FROM media m USING unnest(:messageIds::uuid[]) AS i (id) WHERE m.message_id = i.id',
).run;

/** Reads at most `bytesMax` bytes from an offset, none past the end of its chunk. @throws for a deleted file */
export async function readMediaSlice(
  db: Queryable,
  file: MediaFileKey,
  offset: number,
  bytesMax: number,
): Promise<Buffer> {
  const position = Math.floor(offset / mediaChunkBytes);
  const start = offset - position * mediaChunkBytes;
  const slice = await readSlice(db, { ...file, position, start, bytesMax });
  if (!slice?.data) throw new Error('a chunk of a media file is missing');
  const { data } = slice;
  // The driver keeps the row in memory until the next full garbage collection. Without its text the row is small.
  slice.data = '';
  return Buffer.from(data, 'base64');
}

/** Removes the incomplete files of these messages; their writers stop at the next chunk. */
export async function removeIncompleteMedia(
  trx: Transaction,
  messageIds: readonly (MessageId | MediaId)[],
): Promise<void> {
  await removeMedia(trx, await lockIncomplete(trx, { messageIds }));
}

/** Removes at most `limit` incomplete files that were begun before a time. @returns the number of removed files */
async function removeAbandonedMedia(trx: Transaction, before: Date, limit: number): Promise<number> {
  const files = await lockAbandoned(trx, { before, limit });
  await removeMedia(trx, files);
  return files.length;
}

/** Removes incomplete files, whose writers have ended or stop at the next chunk. */
export async function removeMedia(db: Queryable, files: readonly MediaFileKey[]): Promise<void> {
  if (files.length === 0) return;
  const messageIds = files.map((file) => file.message_id);
  await remove(db, { messageIds, fileIds: files.map((file) => file.file_id) });
}

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

/** Upper bound on the files that one transaction removes; each has up to 20 chunks. */
const roundMax = 50;

/** Removes incomplete files whose writer died, and uploads that have expired. */
export async function purgeAbandonedMedia({ database, clock }: Runtime): Promise<void> {
  const before = clock.in(-incompleteMediaMs);
  let removed: number;
  do removed = await database.transaction((trx) => removeAbandonedMedia(trx, before, roundMax));
  while (removed === roundMax);
  do removed = await purgeUploads(database.pool, { before, limit: roundMax });
  while (removed === roundMax);
}
