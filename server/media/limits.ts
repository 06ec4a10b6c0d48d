/*
 * Limits and periods of media (specification sections 2.8 and 8).
 */

/** The largest file: 5 MiB, which holds every file of 5 MB in either reading of the unit. */
export const mediaMaxBytes = 5 * 1_024 * 1_024;

/** A file is stored in chunks of this size: a fetch has one of them in memory. */
export const mediaChunkBytes = 256 * 1_024;

/** A download has one slice in memory. Its base64 fits into one read of a socket, 64 KiB: the driver joins no buffers. */
export const mediaSliceBytes = 47 * 1_024;

/** Longer than any transfer: an incomplete file that is older has no writer. */
export const incompleteMediaMs = 3_600_000;

/** Characters of a file's name without its extension. */
export const mediaNameMaxCharacters = 64;

/** Redirects that a fetch follows, each checked by the SSRF guard. */
export const mediaRedirectsMax = 3;

/** A fetch ends when its host sends no byte for this long, before the first one too. */
export const mediaSilenceMs = 10_000;

/** Downloads of one device token that run at a time in a process. */
export const deviceDownloadsMax = 2;

/** Downloads of one public link by one client network that run at a time in a process, and all of one team. */
export const linkDownloadsMax = 4;

export const teamDownloadsMax = 64;

/** The slowest download of a public link, past its first 30 s. */
export const downloadBytesPerSecondMin = 16 * 1_024;

export const downloadStartMs = 30_000;

/** Further ones that wait, and for how long. */
export const downloadsWaitingMax = 64;

export const downloadWaitMaxMs = 30_000;
