import { rateLimited, unavailable } from '#server/platform/app-error.ts';
import type { QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';

/* Limits and periods of media (specification sections 2.8 and 8). */

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

/** How long an uploaded file is kept. Its messages have copies of their own. */
export const uploadKeptMs = 24 * 3_600_000;

/** Upper bound on the uploaded files of a team that no message has used. */
export const unusedUploadsMaxBytes = 200 * 1_024 * 1_024;

/** Concurrent uploads of a key or member in a process; a further one is refused, and does not wait. */
export const uploadsRunningMax = 2;

export const uploadQueue: QueueBounds = {
  name: 'upload',
  waitingMax: 0,
  waitMaxMs: 0,
  refuse: () => rateLimited(2, `${uploadsRunningMax} files are being uploaded already`),
};

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
