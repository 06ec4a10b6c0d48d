import type { Runtime } from '#server/database/runtime.ts';
import { fetchMedia, type MediaFetchResult } from '#server/media/fetch-media.ts';
import { isTransientMediaFailure, type MediaFailure } from '#server/media/media-failure.ts';
import { removeIncompleteMedia } from '#server/media/media-store.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { failMediaFetch, finishMediaFetch } from './finish-media-fetch.ts';
import { mediaFetchesWithReserveMax, mediaLeaseMarginMs } from './limits.ts';
import { mediaLostClaimsMax, mediaRetryPauseMs } from './media-fetch-schedule.ts';
import { type ClaimedFetch, claimMediaFetches, postponeMediaFetch } from './media-fetch-store.ts';
import { removeEarlierTries } from './remove-earlier-tries.ts';

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
      return claimMediaFetches(database.pool, clock.now(), leasedUntil, running);
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
  const result: MediaFetchResult = await fetchMedia(services, {
    teamId: fetch.team_id,
    messageId: fetch.message_id,
    url: fetch.url,
    timeoutMs: services.config.mediaTimeoutMs,
    signal,
    onBytes: () => failpoint('media arriving'),
  });
  if (result.kind === 'written') await finishMediaFetch(services, fetch, result.written);
  else if (result.kind === 'failed') await fail(services, fetch, result.failure);
}

async function fail(services: Services, fetch: ClaimedFetch, failure: MediaFailure): Promise<void> {
  const { clock, database, logger } = services;
  const line = { messageId: publicId('msg', fetch.message_id), tries: fetch.failed_tries + 1, failure };
  if (failure === 'aborted') return postpone(database, fetch, clock.now(), { isCounted: false });
  const pauseMs = isTransientMediaFailure(failure) ? mediaRetryPauseMs(fetch.failed_tries + 1) : undefined;
  if (pauseMs === undefined) {
    await failMediaFetch(services, fetch, failure);
    logger.info(line, 'the media of a message could not be fetched');
  } else {
    await postpone(database, fetch, clock.in(pauseMs), { isCounted: true });
    logger.info(line, 'the media of a message could not be fetched; it is tried again');
  }
}

/**
 * Postpones a fetch and removes the bytes that arrived. If another process has claimed the fetch, the bytes may be from
 * that process, and stay.
 */
function postpone(
  database: Services['database'],
  fetch: ClaimedFetch,
  dueAt: Date,
  how: { readonly isCounted: boolean },
): Promise<void> {
  return database.transaction(async (trx) => {
    if (await postponeMediaFetch(trx, fetch, dueAt, how))
      await removeIncompleteMedia(trx, [fetch.message_id]);
  });
}
