import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { mediaMaxBytes, UploadedMedia, UploadMediaQuery } from '#contract/media.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Answer, type Route, route } from '#server/http/route.ts';
import { parseByteRange, streamAnswer } from '#server/http/stream-answer.ts';
import { AppError, notFound } from '#server/platform/app-error.ts';
import { acquireAll, KeyedSemaphore } from '#server/platform/concurrency/keyed-semaphore.ts';
import { parseId } from '#server/platform/ids.ts';
import { clientNetwork } from '#server/platform/network/ip-address.ts';
import {
  downloadBytesPerSecondMin,
  downloadQueue,
  downloadStartMs,
  linkDownloadsMax,
  teamDownloadsMax,
  uploadQueue,
  uploadsRunningMax,
} from './limits.ts';
import { findMediaFile, isMediaToken, type MediaFile, readMedia } from './media-store.ts';
import { isShownInline } from './media-type.ts';
import { uploadMediaExamples } from './route-examples.ts';
import { uploadFile } from './upload-file.ts';

/**
 * Routes for an upload, and for the public link to the file of a message (specification section 2.8). Everyone with the
 * link may read the file. A wrong token, id or name gets the same 404.
 */
export function mediaRoutes(services: Runtime): Route[] {
  const { clock } = services;
  const downloads = {
    ofLink: new KeyedSemaphore({ clock, runningMax: linkDownloadsMax }),
    ofTeam: new KeyedSemaphore({ clock, runningMax: teamDownloadsMax }),
  };
  const uploads = new KeyedSemaphore({ clock, runningMax: uploadsRunningMax });
  return [
    route('POST /v1/media', {
      audience: 'api',
      permission: 'messages:send',
      admission: { permit: 'own queue', streamsBody: true, bodyMaxBytes: mediaMaxBytes },
      text: {
        operationId: 'uploadMedia',
        tag: 'Messages',
        summary: 'Upload a file',
        description:
          'Stores a picture, video, sound or PDF of at most 5 MB for `media_id` of `POST /v1/messages/send`. The body is the file itself. Its type is that of its bytes; the `Content-Type` of the request does not count.\n\nThe file can be used by any number of messages until `expires_at`; each keeps a copy. It needs the plan starter or higher. A key uploads two files at a time, else 429. A team may have 200 MB of files that no message has used, else 402.',
        examples: uploadMediaExamples,
      },
      query: UploadMediaQuery,
      answers: { 201: UploadedMedia },
      handle: async ({ principal, query, request }) => ({
        status: 201,
        body: await uploads.run(principal.id, uploadQueue, () =>
          uploadFile(services, principal, request, query.name),
        ),
      }),
    }),
    route('GET /media/:id/:token/:name', {
      audience: 'page',
      admission: { ownToken: true, permit: 'own queue' },
      answers: { 200: Type.Unknown(), 206: Type.Unknown(), 304: Type.Unknown() },
      handle: async ({ params, request, reply }) => {
        const file = await findPublicFile(services, params);
        return answerFile(services, downloads, file, request, reply);
      },
    }),
  ];
}

/** @throws AppError 404 */
async function findPublicFile(
  services: Runtime,
  { id = '', token = '', name = '' }: Readonly<Record<string, string>>,
): Promise<MediaFile> {
  const messageId = parseId('msg', id);
  if (!messageId || !isMediaToken(services, messageId, token)) throw notFound('file');
  const file = await findMediaFile(services.database.pool, { messageId });
  if (!file || file.name !== name) throw notFound('file');
  return file;
}

/** Answers a download with 200, 206 or 304. @throws AppError 416 for a range outside the file; 503 over capacity */
async function answerFile(
  { database, clock }: Runtime,
  downloads: Readonly<Record<'ofLink' | 'ofTeam', KeyedSemaphore>>,
  file: MediaFile,
  { headers, method, ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<Answer> {
  const etag = `"${file.sha256.toString('base64url')}"`;
  reply.headers(fileHeaders(file, etag));
  const known = headers['if-none-match'];
  if (known !== undefined && (known.trim() === '*' || known.includes(etag)))
    return { status: 304, body: undefined };
  const size = file.size_bytes;
  const isCurrent = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isCurrent ? parseByteRange(headers.range, size) : undefined;
  if (range === 'unsatisfiable') {
    throw new AppError(
      'invalid_request',
      `The range is outside the file, which has ${size} bytes. Ask for a range within it.`,
      { status: 416, headers: { 'content-range': `bytes */${size}` } },
    );
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const head = {
    status: range ? 206 : 200,
    headers: {
      'content-type': file.type,
      'content-length': String(end - start + 1),
      ...(range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
    },
  };
  if (method === 'HEAD') {
    await streamAnswer(reply, head, nothing(), () => undefined);
    return { body: undefined };
  }
  const maxMs = downloadStartMs + ((end - start + 1) * 1_000) / downloadBytesPerSecondMin;
  const release = await acquireAll(
    downloadQueue,
    [downloads.ofLink, `${clientNetwork(ip)} ${file.message_id}`],
    [downloads.ofTeam, file.team_id],
  );
  const cancelTimer = clock.after(maxMs, () => void reply.raw.destroy());
  await streamAnswer(reply, head, readMedia(database.pool, file, { start, end }), () => {
    cancelTimer();
    release();
  });
  return { body: undefined };
}

/** Headers that make a browser show images, videos and audio, download everything else, and run no script of a file. */
function fileHeaders(file: MediaFile, etag: string): Readonly<Record<string, string>> {
  return {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': `${isShownInline(file.type) ? 'inline' : 'attachment'}; filename="${file.name}"`,
    'content-security-policy': "sandbox; default-src 'none'",
    // The link is the authorization, and pages of the team's own programs may show the picture.
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  };
}

async function* nothing(): AsyncGenerator<Buffer, void> {}
