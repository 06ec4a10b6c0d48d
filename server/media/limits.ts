/*
 * Limits and periods of media (specification sections 2.8 and 8).
 */

/** The largest file: 5 MiB, which holds every file of 5 MB in either reading of the unit. */
export const mediaMaxBytes = 5 * 1_024 * 1_024;

/** A file is stored in chunks of this size: a transfer has one of them in memory. */
export const mediaChunkBytes = 256 * 1_024;

/** Longer than any transfer: an incomplete file that is older has no writer. */
export const incompleteMediaMs = 3_600_000;

/** Characters of a file's name without its extension. */
export const mediaNameMaxCharacters = 64;
