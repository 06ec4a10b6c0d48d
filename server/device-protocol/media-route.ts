import { Type } from 'typebox';
import type { Runtime } from '#server/database/runtime.ts';
import { type DeviceCaller, type Route, route } from '#server/http/route.ts';
import { streamAnswer } from '#server/http/stream-answer.ts';
import { deviceDownloadsMax, downloadQueue } from '#server/media/limits.ts';
import { findMediaFile, type MediaFile, readMedia } from '#server/media/media-store.ts';
import { isInFlightAt } from '#server/messages/message-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import { KeyedSemaphore } from '#server/platform/concurrency/keyed-semaphore.ts';
import { parseId } from '#server/platform/ids.ts';
import { mediaPerMinute } from './limits.ts';

/**
 * The file of a message for its phone (specification section 11.10). Any failure destroys the connection, because a
 * shortcut would text the words of an error answer to the customer.
 */
export function deviceMediaRoute(services: Runtime): Route {
  const { clock } = services;
  const downloads = new KeyedSemaphore({ clock, runningMax: deviceDownloadsMax });
  return route('GET /v1/device/media/:id/:filename', {
    audience: 'device',
    admission: { permit: 'own queue', tokenPerMinute: mediaPerMinute },
    failure: 'hang up',
    answers: { 200: Type.Unknown() },
    handle: async ({ device, params, reply }) => {
      const file = await findFile(services, device, params);
      const head = {
        status: 200,
        headers: { 'content-type': file.type, 'content-length': String(file.size_bytes) },
      };
      const release = await downloads.acquire(device.tokenHash.toString('hex'), downloadQueue);
      await streamAnswer(reply, head, readMedia(services.database.pool, file), release);
      return { body: undefined };
    },
  });
}

/** Finds the file of the message that is in flight at the token's device. @throws AppError 404 for any other message */
async function findFile(
  { database }: Runtime,
  device: DeviceCaller,
  { id = '', filename }: Readonly<Record<string, string>>,
): Promise<MediaFile> {
  const messageId = parseId('msg', id);
  const { numberId, deviceId } = device;
  if (!messageId || !(await isInFlightAt(database.pool, { numberId, deviceId, messageId })))
    throw notFound('file');
  const file = await findMediaFile(database.pool, { messageId });
  if (!file || file.name !== filename) throw notFound('file');
  return file;
}
