import { query, transactionQuery } from '#server/database/query.ts';
import type { MediaId, MessageId, TeamId } from '#server/platform/ids.ts';

/* An uploaded file is a row of media with the id of the upload in place of a message's, and the time when it expires. */

const originPrefix = 'upload ';

/** Stands for the origin of a URL in the queue of fetches, as `ownOrigin` does: the file is an upload. */
export const uploadOrigin = (id: MediaId) => `${originPrefix}${id}`;

/** The upload that an origin stands for. */
export function uploadOfOrigin(origin: string): MediaId | undefined {
  return origin.startsWith(originPrefix) ? (origin.slice(originPrefix.length) as MediaId) : undefined;
}

/** Finds an upload that a message may use. */
export const findUpload = query<{ teamId: TeamId; id: MediaId; at: Date }, { name: string }>(
  'media.find-upload',
  `SELECT name FROM media WHERE message_id = :id AND team_id = :teamId AND is_complete AND expires_at > :at`,
).row;

/** Sums up the uploads of a team that no message has used, in bytes. */
export const sumUnusedUploads = transactionQuery<{ teamId: TeamId; at: Date }>(
  'media.sum-unused-uploads',
  `SELECT coalesce(sum(size_bytes), 0)::int FROM media
   WHERE team_id = :teamId AND NOT is_used AND expires_at > :at AND is_complete`,
).number;

/** Notes that a message has a copy of an upload. */
export const markUploadUsed = query<{ id: MediaId }>(
  'media.mark-upload-used',
  'UPDATE media SET is_used = true WHERE message_id = :id AND NOT is_used AND expires_at IS NOT NULL',
).run;

/** Deletes the uploads of which messages have copies, for the erasure of these messages. */
export const removeUploadsOf = transactionQuery<{ messageIds: readonly MessageId[] }>(
  'media.remove-uploads-of-messages',
  `DELETE FROM media WHERE expires_at IS NOT NULL AND message_id = ANY (ARRAY(
     SELECT u.message_id FROM unnest(:messageIds::uuid[]) AS i (id)
     CROSS JOIN LATERAL (SELECT f.team_id, f.sha256 FROM media f WHERE f.message_id = i.id AND f.is_complete OFFSET 0) f
     CROSS JOIN LATERAL (
       SELECT u.message_id FROM media u
       WHERE u.team_id = f.team_id AND u.sha256 = f.sha256 AND u.expires_at IS NOT NULL OFFSET 0
     ) u
   ))`,
).run;

/**
 * Deletes uploads that expired before a time. A message that was accepted before may not have its copy yet, for example
 * after a restore: its upload stays. @returns the number deleted
 */
export const purgeUploads = query<{ before: Date; limit: number }>(
  'media.purge-uploads',
  `DELETE FROM media WHERE ctid = ANY (ARRAY(
     SELECT u.ctid FROM media u
     WHERE u.expires_at <= :before AND NOT EXISTS (
       SELECT FROM media_fetches f WHERE f.team_id = u.team_id AND f.origin = '${originPrefix}' || u.message_id OFFSET 0
     )
     ORDER BY u.expires_at LIMIT :limit
   ))`,
).count;
