import { phoneQueueChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MediaFailure } from '#server/media/media-failure.ts';
import { completeWrittenMedia, discardWrittenMedia, type WrittenMedia } from '#server/media/media-writer.ts';
import { lockUsage } from '#server/usage/usage-store.ts';
import { failQueued } from './fail-queued.ts';
import { type ClaimedFetch, endWaitForMedia, isFetchCurrent, removeMediaFetch } from './media-fetch-store.ts';

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>;

/** Thrown to roll the transaction back: another process has claimed the fetch, or the message left the queue. */
class FetchTakenError extends Error {}

/**
 * Completes the file of a message, lets the message be handed out, and wakes its phone's poll. The file is removed if
 * the message left the queue meanwhile, or another process has claimed its fetch.
 */
export async function finishMediaFetch(
  services: Services,
  fetch: ClaimedFetch,
  written: WrittenMedia,
): Promise<void> {
  const { database } = services;
  try {
    await database.transaction(async (trx) => {
      const ended = await endWaitForMedia(trx, fetch);
      if (!ended) throw new FetchTakenError();
      if (!(await removeMediaFetch(trx, fetch))) throw new FetchTakenError();
      if (!(await completeWrittenMedia(trx, written))) throw new FetchTakenError();
      trx.notifyAfterCommit(phoneQueueChannel, [ended.number_id]);
    });
  } catch (error) {
    if (!(error instanceof FetchTakenError)) throw error;
    await discardWrittenMedia(database.pool, written);
    if (await isFetchCurrent(database.pool, fetch))
      throw new Error('the file of a media fetch was deleted before its message used it');
  }
}

/** Fails a message whose media could not be fetched (specification section 3.2), and refunds it. */
export async function failMediaFetch(
  services: Services,
  fetch: ClaimedFetch,
  failure: MediaFailure,
): Promise<void> {
  const code = failure === 'too_large' ? 'media_too_large' : 'media_unavailable';
  await services.database.transaction(async (trx) => {
    await lockUsage(trx, { teamIds: [fetch.team_id] });
    if (!(await isFetchCurrent(trx, fetch))) return;
    await failQueued(trx, services, fetch.team_id, [fetch.message_id], code, failure);
  });
}
