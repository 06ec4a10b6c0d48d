import type { Runtime } from '#server/database/runtime.ts';
import { fetchMedia, type MediaFetchResult } from '#server/media/fetch-media.ts';
import { isTransientMediaFailure, type MediaFailure } from '#server/media/media-failure.ts';
import { removeIncompleteMedia } from '#server/media/media-store.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
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
export class MediaFetchWorker {
  readonly #services: Services;
  readonly #worker: QueueWorker<ClaimedFetch>;

  constructor(services: Services) {
    this.#services = services;
    const { database, clock, config, logger, restoreHold } = services;
    this.#worker = new QueueWorker({
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
      run: (fetch, signal) => this.#run(fetch, signal),
    });
  }

  get loops(): readonly Loop[] {
    return this.#worker.loops;
  }

  start(): void {
    this.#worker.start();
  }

  /** Requests a round, because a new message may have media. */
  notify(): void {
    this.#worker.notify();
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Never rejects: a fetch whose outcome could not be written runs again after its lease. */
  async #run(fetch: ClaimedFetch, signal: AbortSignal): Promise<void> {
    try {
      await this.#try(fetch, signal);
    } catch (error) {
      this.#services.logger.error(
        { err: error, messageId: publicId('msg', fetch.message_id) },
        'the media of a message could not be stored; they are fetched again when the lease on the fetch ends',
      );
    }
  }

  async #try(fetch: ClaimedFetch, signal: AbortSignal): Promise<void> {
    const { config } = this.#services;
    if (fetch.tries > 1) await removeEarlierTries(this.#services, fetch);
    // Each earlier claim without an outcome means that its process died, perhaps because of the file.
    if (fetch.tries - 1 - fetch.failed_tries >= mediaLostClaimsMax)
      return failMediaFetch(this.#services, fetch, 'interrupted');
    const result: MediaFetchResult = await fetchMedia(this.#services, {
      teamId: fetch.team_id,
      messageId: fetch.message_id,
      url: fetch.url,
      timeoutMs: config.mediaTimeoutMs,
      signal,
      onBytes: () => failpoint('media arriving'),
    });
    if (result.kind === 'written') await finishMediaFetch(this.#services, fetch, result.written);
    else if (result.kind === 'failed') await this.#fail(fetch, result.failure);
  }

  async #fail(fetch: ClaimedFetch, failure: MediaFailure): Promise<void> {
    const { clock, logger } = this.#services;
    const line = { messageId: publicId('msg', fetch.message_id), tries: fetch.failed_tries + 1, failure };
    if (failure === 'aborted') return this.#postpone(fetch, clock.now(), { isCounted: false });
    const pauseMs = isTransientMediaFailure(failure) ? mediaRetryPauseMs(fetch.failed_tries + 1) : undefined;
    if (pauseMs === undefined) {
      await failMediaFetch(this.#services, fetch, failure);
      logger.info(line, 'the media of a message could not be fetched');
    } else {
      await this.#postpone(fetch, clock.in(pauseMs), { isCounted: true });
      logger.info(line, 'the media of a message could not be fetched; it is tried again');
    }
  }

  /**
   * Postpones a fetch and removes the bytes that arrived. If another process has claimed the fetch, the bytes may be
   * from that process, and stay.
   */
  async #postpone(fetch: ClaimedFetch, dueAt: Date, how: { readonly isCounted: boolean }): Promise<void> {
    await this.#services.database.transaction(async (trx) => {
      if (await postponeMediaFetch(trx, fetch, dueAt, how))
        await removeIncompleteMedia(trx, [fetch.message_id]);
    });
  }
}
