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

/** Bounds the downloads that run at a time per key: a slow reader holds a slice in memory, but no permit of its team. */
export class DownloadLimiter {
  readonly #semaphore: KeyedSemaphore;

  /** @param runningMax downloads of one key */
  constructor({ clock }: Pick<Runtime, 'clock'>, runningMax: number) {
    this.#semaphore = new KeyedSemaphore({ clock, runningMax });
  }

  /**
   * Begins a download once it may run.
   * @param begin resolves when the answer has begun; its parameter ends the download
   * @throws AppError 503; what `begin` throws
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
