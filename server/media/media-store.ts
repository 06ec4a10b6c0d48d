import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { mediaChunkBytes } from './limits.ts';

/** The key of one try to store the file of a message. */
export interface MediaFileKey {
  readonly message_id: MessageId;
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

const create = statement<[TeamId, MessageId, string, string, Date], MediaFileKey>(
  'media.create',
  `INSERT INTO media (message_id, team_id, name, type, created_at) VALUES ($2, $1, $3, $4, $5)
   RETURNING message_id, file_id`,
);
// The statement locks the row of the file, so a purge of the file waits for this chunk. A file that was removed takes none.
const append = statement<[MessageId, number, number, Buffer]>(
  'media.append',
  `WITH file AS MATERIALIZED (
     SELECT team_id, message_id, file_id FROM media WHERE message_id = $1 AND file_id = $2 AND NOT is_complete FOR KEY SHARE
   )
   INSERT INTO media_chunks (team_id, message_id, file_id, position, data)
   SELECT team_id, message_id, file_id, $3, $4 FROM file RETURNING position`,
);
const complete = transactionStatement<[MessageId, number, number, Buffer]>(
  'media.complete',
  `UPDATE media SET is_complete = true, size_bytes = $3, sha256 = $4
   WHERE message_id = $1 AND file_id = $2 AND NOT is_complete RETURNING message_id, file_id`,
);

/** Finds the complete file of a message. The caller has checked that the message belongs to the reader's team. */
export const findMediaFile = statement<[messageId: MessageId], MediaFile>(
  'media.find',
  `SELECT message_id, file_id, team_id, name, type, size_bytes, sha256 FROM media WHERE message_id = $1 AND is_complete`,
).row;
// The driver reads results as text: base64 is a third smaller than the hexadecimal form of bytea.
const readSlice = statement<[MessageId, number, number, number, number], { data: string }>(
  'media.read-slice',
  `SELECT encode(substring(data FROM $4 + 1 FOR $5), 'base64') AS data FROM media_chunks
   WHERE message_id = $1 AND file_id = $2 AND position = $3`,
);
const lockIncomplete = transactionStatement<[readonly MessageId[]], MediaFileKey>(
  'media.lock-incomplete',
  `SELECT message_id, file_id FROM media WHERE message_id = ANY($1::uuid[]) AND NOT is_complete
   ORDER BY message_id, file_id FOR UPDATE`,
);
const lockAbandoned = transactionStatement<[Date, number], MediaFileKey>(
  'media.lock-abandoned',
  `SELECT message_id, file_id FROM media WHERE created_at <= $1 AND NOT is_complete
   ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
);
const remove = statement<[MessageId[], number[]]>(
  'media.remove',
  `DELETE FROM media m USING unnest($1::uuid[], $2::bigint[]) AS f (message_id, file_id)
   WHERE m.message_id = f.message_id AND m.file_id = f.file_id AND NOT m.is_complete RETURNING m.message_id, m.file_id`,
);
const removeOfMessages = transactionStatement<[readonly MessageId[]]>(
  'media.remove-of-messages',
  'DELETE FROM media m USING unnest($1::uuid[]) AS i (id) WHERE m.message_id = i.id',
);

/** Begins a file. Readers do not find the file before `completeMediaFile` has run. */
export async function createMediaFile(
  db: Queryable,
  teamId: TeamId,
  file: { readonly messageId: MessageId; readonly name: string; readonly type: string; readonly at: Date },
): Promise<MediaFileKey> {
  const created = await create.row(db, teamId, file.messageId, file.name, file.type, file.at);
  if (!created) throw new Error('the INSERT of a media file returned no row');
  return created;
}

/** Appends a chunk to a file. @returns false if the file was removed meanwhile: its writer has to stop */
export async function appendMediaChunk(
  db: Queryable,
  file: MediaFileKey,
  position: number,
  data: Buffer,
): Promise<boolean> {
  return append.hasRow(db, file.message_id, file.file_id, position, data);
}

/** Completes a file, so that readers find it. @returns false if the file was removed meanwhile */
export async function completeMediaFile(
  trx: Transaction,
  file: MediaFileKey,
  sizeBytes: number,
  sha256: Buffer,
): Promise<boolean> {
  return complete.hasRow(trx, file.message_id, file.file_id, sizeBytes, sha256);
}

/** Reads at most `bytesMax` bytes from an offset, none past the end of its chunk. @throws for a deleted file */
export async function readMediaSlice(
  db: Queryable,
  file: MediaFileKey,
  offset: number,
  bytesMax: number,
): Promise<Buffer> {
  const position = Math.floor(offset / mediaChunkBytes);
  const slice = await readSlice.row(
    db,
    file.message_id,
    file.file_id,
    position,
    offset - position * mediaChunkBytes,
    bytesMax,
  );
  if (!slice?.data) throw new Error('a chunk of a media file is missing');
  const { data } = slice;
  // The driver keeps the row in memory until the next full garbage collection. Without its text the row is small.
  slice.data = '';
  return Buffer.from(data, 'base64');
}

/** Removes the incomplete files of these messages; their writers stop at the next chunk. */
export async function removeIncompleteMedia(
  trx: Transaction,
  messageIds: readonly MessageId[],
): Promise<void> {
  await removeLocked(trx, await lockIncomplete.rows(trx, messageIds));
}

/** Removes at most `limit` incomplete files that were begun before a time. @returns the number of removed files */
export async function removeAbandonedMedia(trx: Transaction, before: Date, limit: number): Promise<number> {
  return removeLocked(trx, await lockAbandoned.rows(trx, before, limit));
}

/** Removes all files of messages. */
export const removeMediaOf = removeOfMessages.run;

/** Removes an incomplete file whose writer has ended. */
export async function removeWrittenMedia(db: Queryable, file: MediaFileKey): Promise<void> {
  await remove.run(db, [file.message_id], [file.file_id]);
}

async function removeLocked(trx: Transaction, files: readonly MediaFileKey[]): Promise<number> {
  if (files.length === 0) return 0;
  await remove.run(
    trx,
    files.map((file) => file.message_id),
    files.map((file) => file.file_id),
  );
  return files.length;
}
