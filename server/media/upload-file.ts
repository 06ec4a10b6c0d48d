import type { FastifyRequest } from 'fastify';
import type { UploadedMedia } from '#contract/media.ts';
import { plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Principal } from '#server/http/route.ts';
import { readStreamedBody } from '#server/http/streamed-body.ts';
import { type AppError, unavailable, unreadable } from '#server/platform/app-error.ts';
import { type MediaId, type MessageId, publicId, type TeamId } from '#server/platform/ids.ts';
import { planLimitExceeded } from '#server/teams/team/plans.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { unusedUploadsMaxBytes, uploadKeptMs } from './limits.ts';
import { completeMediaFile, findMediaFile, readMedia, removeIncompleteMedia } from './media-store.ts';
import { sendableExtensions } from './media-type.ts';
import { type MediaProblem, MediaWriter, type WrittenMedia } from './media-writer.ts';
import { markUploadUsed, sumUnusedUploads } from './upload-store.ts';

/**
 * Stores the body of a request as a file that messages may use (specification section 2.8). A refused or interrupted
 * upload leaves nothing. The team is locked from the sum to the end, so that concurrent uploads stay below the limit.
 * @throws AppError 400 for a file that no iPhone sends, 402, 413
 */
export async function uploadFile(
  services: Runtime,
  { teamId, plan }: Pick<Principal, 'teamId' | 'plan'>,
  request: FastifyRequest,
  wantedName: string | undefined,
): Promise<UploadedMedia> {
  const { database, clock, ids, config } = services;
  if (!plans[plan].standard) {
    const texts = { reason: 'Media need the plan starter or higher.', remedy: 'Send without files' };
    throw planLimitExceeded(config, { ...texts, limit: 0, current: 0 }, { param: 'media_id' });
  }
  const id = ids.next('med');
  const expiresAt = clock.in(uploadKeptMs);
  const writer = new MediaWriter(services, {
    teamId,
    messageId: id,
    wantedName,
    isOutbound: true,
    expiresAt,
  });
  try {
    await readStreamedBody(request, (bytes) => writer.write(bytes));
    const written = await writer.end();
    if (typeof written === 'string') throw refusalOf(written);
    const { type, sizeBytes: size } = written;
    await database.transaction(async (trx) => {
      await lockTeam(trx, { teamId });
      const current = await sumUnusedUploads(trx, { teamId, at: clock.now() });
      if (current + size > unusedUploadsMaxBytes) throw tooManyUnused(config, current);
      if (!(await completeMediaFile(trx, written))) throw refusalOf('removed');
    });
    return { id: publicId('med', id), type, size, expires_at: expiresAt.toISOString() };
  } catch (error) {
    await database.transaction((trx) => removeIncompleteMedia(trx, [id]));
    throw error;
  }
}

function refusalOf(problem: MediaProblem): AppError {
  if (problem === 'removed') return unavailable('The file arrived too slowly. Send it again.');
  return problem === 'empty'
    ? unreadable('The body is empty. Send the bytes of the file as the body.')
    : unreadable(
        `An iPhone sends no file of this type. The type is that of the bytes: ${sendableExtensions.join(', ')}.`,
      );
}

function tooManyUnused(config: Runtime['config'], current: number): AppError {
  const reason = 'The team has uploaded 200 MB of files that no message uses.';
  const remedy = 'Use some, or wait until they expire';
  return planLimitExceeded(config, {
    ...{ reason, remedy, current },
    limit: unusedUploadsMaxBytes,
    isLargest: true,
  });
}

/** Stores a copy of an upload as the file of a message. @throws if the database could not store the bytes */
export async function copyUpload(
  services: Runtime,
  message: { readonly teamId: TeamId; readonly messageId: MessageId },
  id: MediaId,
): Promise<WrittenMedia | MediaProblem> {
  const { pool } = services.database;
  const upload = await findMediaFile(pool, { messageId: id });
  if (!upload) throw new Error('an upload was deleted before its message had a copy');
  const writer = new MediaWriter(services, { ...message, wantedName: upload.name });
  for await (const bytes of readMedia(pool, upload)) await writer.write(bytes);
  await markUploadUsed(pool, { id });
  return writer.end();
}
