import { phoneQueueChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { fetchMedia, isTransientMediaFailure, type MediaFailure } from '#server/media/fetch-media.ts';
import { completeMediaFile, removeIncompleteMedia, removeMedia } from '#server/media/media-store.ts';
import type { WrittenMedia } from '#server/media/media-writer.ts';
import { ownOrigin, storeTestPicture } from '#server/media/test-picture.ts';
import { copyUpload } from '#server/media/upload-file.ts';
import { uploadOfOrigin } from '#server/media/upload-store.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { publicId } from '#server/platform/ids.ts';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { failQueued } from './fail-queued.ts';
import { mediaFetchesWithReserveMax, mediaLeaseMarginMs } from './limits.ts';
import {
  type ClaimedFetch,
  claimMediaFetches,
  endWaitForMedia,
  isFetchCurrent,
  lockCurrentFetch,
  mediaLostClaimsMax,
  mediaRetryPauseMs,
  postponeMediaFetch,
  removeMediaFetch,
} from './media-fetch-store.ts';

const sweepMs = 1_000;

type Services = Runtime & { readonly outbound: OutboundHttp };

/**
 * Fetches the media of queued messages (specification section 3.2). A fetch is claimed with a lease, runs outside a
 * transaction, and its outcome is written afterwards. If the process dies, another process claims the fetch after the
 * lease, and first removes the bytes of earlier tries. During a restore hold no fetch begins. A stop aborts running
 * fetches: their tries do not count, and another process may claim them at once. A try that a kill ended does not count
 * either, up to a bound of its own.
 */
export function createMediaFetchWorker(services: Services): QueueWorker<ClaimedFetch> {
  const { database, clock, config, logger, restoreHold } = services;
  return new QueueWorker<ClaimedFetch>({
    name: 'fetch media',
    clock,
    logger,
    sweepMs,
    runningMax: mediaFetchesWithReserveMax,
    stopMs: 0,
    claim: async (running) => {
      if (restoreHold.isHeld) return [];
      const leasedUntil = clock.in(config.mediaTimeoutMs + mediaLeaseMarginMs);
      const [teamIds, origins] = [running.map((one) => one.team_id), running.map((one) => one.origin)];
      return claimMediaFetches(database.pool, { now: clock.now(), leasedUntil, teamIds, origins });
    },
    run: (fetch, signal) =>
      attempt(services, fetch, signal).catch((error: unknown) => {
        logger.error(
          { err: error, messageId: publicId('msg', fetch.message_id) },
          'the media of a message could not be stored; they are fetched again when the lease on the fetch ends',
        );
      }),
  });
}

async function attempt(services: Services, fetch: ClaimedFetch, signal: AbortSignal): Promise<void> {
  if (fetch.tries > 1) await removeEarlierTries(services, fetch);
  // Each earlier claim without an outcome means that its process died, perhaps because of the file.
  if (fetch.tries - 1 - fetch.failed_tries >= mediaLostClaimsMax)
    return failMediaFetch(services, fetch, 'interrupted');
  const message = { teamId: fetch.team_id, messageId: fetch.message_id };
  const upload = uploadOfOrigin(fetch.origin);
  const result = upload
    ? await copyUpload(services, message, upload)
    : fetch.origin === ownOrigin
      ? await storeTestPicture(services, message)
      : await fetchMedia(services, { ...message, url: fetch.url, signal });
  if (typeof result === 'object') await finishMediaFetch(services, fetch, result);
  else if (result !== 'removed') await fail(services, fetch, result);
}

async function fail(services: Services, fetch: ClaimedFetch, failure: MediaFailure): Promise<void> {
  const { clock, database, logger } = services;
  const line = { messageId: publicId('msg', fetch.message_id), tries: fetch.failed_tries + 1, failure };
  if (failure === 'aborted') return postpone(database, { ...fetch, dueAt: clock.now(), isCounted: false });
  const pauseMs = isTransientMediaFailure(failure) ? mediaRetryPauseMs(fetch.failed_tries + 1) : undefined;
  if (pauseMs === undefined) {
    await failMediaFetch(services, fetch, failure);
    logger.info(line, 'the media of a message could not be fetched');
  } else {
    await postpone(database, { ...fetch, dueAt: clock.in(pauseMs), isCounted: true });
    logger.info(line, 'the media of a message could not be fetched; it is tried again');
  }
}

/**
 * Postpones a fetch and removes the bytes that arrived. If another process has claimed the fetch, the bytes may be from
 * that process, and stay.
 */
function postpone(
  database: Services['database'],
  fetch: ClaimedFetch & { readonly dueAt: Date; readonly isCounted: boolean },
): Promise<void> {
  return database.transaction(async (trx) => {
    if (await postponeMediaFetch(trx, fetch)) await removeIncompleteMedia(trx, [fetch.message_id]);
  });
}

/** Removes the bytes of a fetch's earlier tries, unless another process has claimed it meanwhile. */
export async function removeEarlierTries({ database }: Runtime, fetch: ClaimedFetch): Promise<void> {
  await database.transaction(async (trx) => {
    if (await lockCurrentFetch(trx, fetch)) await removeIncompleteMedia(trx, [fetch.message_id]);
  });
}

/** Thrown to roll the transaction back: another process has claimed the fetch, or the message left the queue. */
class FetchTakenError extends Error {}

/**
 * Completes the file of a message, lets the message be handed out, and wakes its phone's poll. The file is removed if
 * the message left the queue meanwhile, or another process has claimed its fetch.
 */
async function finishMediaFetch(
  services: Services,
  fetch: ClaimedFetch,
  written: WrittenMedia,
): Promise<void> {
  const { database } = services;
  try {
    await database.transaction(async (trx) => {
      const ended = await endWaitForMedia(trx, fetch);
      if (!ended || !(await removeMediaFetch(trx, fetch)) || !(await completeMediaFile(trx, written)))
        throw new FetchTakenError();
      trx.notifyAfterCommit(phoneQueueChannel, [ended.number_id]);
    });
  } catch (error) {
    if (!(error instanceof FetchTakenError)) throw error;
    await removeMedia(database.pool, [written]);
    if (await isFetchCurrent(database.pool, fetch))
      throw new Error('the file of a media fetch was deleted before its message used it');
  }
}

/** Fails a message whose media could not be fetched (specification section 3.2), and refunds it. */
async function failMediaFetch(services: Services, fetch: ClaimedFetch, failure: MediaFailure): Promise<void> {
  const code = failure === 'too_large' ? 'media_too_large' : 'media_unavailable';
  await services.database.transaction(async (trx) => {
    await lockUsage(trx, { teamIds: [fetch.team_id] });
    if (!(await isFetchCurrent(trx, fetch))) return;
    await failQueued(trx, services, fetch.team_id, [fetch.message_id], code, failure);
  });
}
