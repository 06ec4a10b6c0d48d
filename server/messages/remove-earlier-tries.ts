import type { Runtime } from '#server/database/runtime.ts';
import { removeIncompleteMedia } from '#server/media/media-store.ts';
import { type ClaimedFetch, lockCurrentFetch } from './media-fetch-store.ts';

/** Removes the bytes of a fetch's earlier tries, unless another process has claimed it meanwhile. */
export async function removeEarlierTries(
  { database }: Pick<Runtime, 'database'>,
  fetch: ClaimedFetch,
): Promise<void> {
  await database.transaction(async (trx) => {
    if (await lockCurrentFetch(trx, fetch)) await removeIncompleteMedia(trx, [fetch.message_id]);
  });
}
