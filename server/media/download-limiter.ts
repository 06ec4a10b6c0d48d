import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import { downloadsWaitingMax, downloadWaitMaxMs } from './limits.ts';

const queue: QueueBounds = {
  name: 'download',
  waitingMax: downloadsWaitingMax,
  waitMaxMs: downloadWaitMaxMs,
  refuse: () => unavailable('Too many files are being downloaded. Repeat the request in a moment.'),
};

/**
 * Limits concurrent downloads of a device token, link or team: downloads use memory, but no permit of their team's
 * concurrency limiter.
 */
export class DownloadLimiter {
  readonly #semaphore: KeyedSemaphore;

  /** @param runningMax concurrent downloads of one key */
  constructor({ clock }: Pick<Runtime, 'clock'>, runningMax: number) {
    this.#semaphore = new KeyedSemaphore({ clock, runningMax });
  }

  /**
   * Begins a download once the key has a free slot.
   * @param begin resolves once the answer has begun, and calls its parameter when the download ends
   * @throws AppError 503 where too many downloads wait; errors of `begin`
   */
  begin(key: string, begin: (onEnd: () => void) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        const ended = Promise.withResolvers<void>();
        await begin(ended.resolve).then(resolve, (error) => {
          ended.resolve();
          reject(error);
        });
        await ended.promise;
      };
      this.#semaphore.run(key, queue, run).catch(reject);
    });
  }
}
