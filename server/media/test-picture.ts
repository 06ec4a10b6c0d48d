import { readFile } from 'node:fs/promises';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { MediaWriter } from './media-writer.ts';

/** The path at which people see the picture of the setup page's test text. */
export const testPicturePath = '/test-picture.png';

/**
 * Stands for the origin of a URL in the queue of fetches: the file is this server's own, and nothing is requested for
 * it. No valid URL has this origin.
 */
export const ownOrigin = 'ownline';

export const readTestPicture = () => readFile(new URL('./test-picture.png', import.meta.url));

/** Stores the test picture as the file of a message. @throws if the database could not store the bytes */
export async function storeTestPicture(
  services: Runtime,
  message: { readonly teamId: TeamId; readonly messageId: MessageId },
): ReturnType<MediaWriter['end']> {
  const writer = new MediaWriter(services, { ...message, wantedName: testPicturePath });
  await writer.write(await readTestPicture());
  return writer.end();
}
