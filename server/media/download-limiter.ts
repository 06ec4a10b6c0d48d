import { unavailable } from '#server/platform/app-error.ts';
import type { QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import { downloadsWaitingMax, downloadWaitMaxMs } from './limits.ts';

/**
 * Download limiter: the queue of downloads before the semaphore of a device token, a link or a team. Downloads use
 * memory, but no permit of their team's concurrency limiter.
 */
export const downloadQueue: QueueBounds = {
  name: 'download',
  waitingMax: downloadsWaitingMax,
  waitMaxMs: downloadWaitMaxMs,
  refuse: () => unavailable('Too many files are being downloaded. Repeat the request in a moment.'),
};
