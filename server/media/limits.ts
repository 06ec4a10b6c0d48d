import { unavailable } from '#server/platform/app-error.ts';
import type { QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';

/* Limits and periods of media (specification sections 2.8 and 8). */

/** Largest file: 5 MiB, so that a file of 5 MB fits, whether MB means 1,000,000 or 1,048,576 bytes. */
export const mediaMaxBytes = 5 * 1_024 * 1_024;

/** Size of a stored chunk; a fetch holds one chunk in memory. */
export const mediaChunkBytes = 256 * 1_024;

/**
 * Size of the slice that a download holds in memory. Its base64 fits one socket read of 64 KiB, so the driver joins no
 * buffers.
 */
export const mediaSliceBytes = 47 * 1_024;

/** Age from which an incomplete file counts as abandoned: longer than any transfer. */
export const incompleteMediaMs = 3_600_000;

/** Upper bound on a file's name without its extension. */
export const mediaNameMaxCharacters = 64;

/** How many redirects a fetch follows; the SSRF guard checks each one. */
export const mediaRedirectsMax = 3;

/** A fetch ends when its host sends no byte for this long, even before the first byte. */
export const mediaSilenceMs = 10_000;

/** Concurrent downloads of one device token in a process. */
export const deviceDownloadsMax = 2;

/** Concurrent downloads in a process: of one public link by one client network, and of all links of a team. */
export const linkDownloadsMax = 4;

export const teamDownloadsMax = 64;

/** A download of a public link that is slower than this rate, after its first 30 s, is ended. */
export const downloadBytesPerSecondMin = 16 * 1_024;

export const downloadStartMs = 30_000;

/**
 * How many downloads beyond the limits above wait, and for how long. Downloads use memory, but no permit of their team's
 * concurrency limiter.
 */
export const downloadQueue: QueueBounds = {
  name: 'download',
  waitingMax: 64,
  waitMaxMs: 30_000,
  refuse: () => unavailable('Too many files are being downloaded. Repeat the request in a moment.'),
};
