/*
 * Limits of searches (specification section 4.3, decision 0061).
 */

/** Characters at the beginning of a text that a search finds. */
export const searchedCharactersMax = 5_000;

/** Messages, and characters of their texts, that a page of a search reads at most, to within a segment. */
export const searchMessagesMax = 5_000;

export const searchCharactersMax = 1_000_000;

/** Signatures that a page of a search compares at most. */
export const segmentsExaminedMax = 10_000;

/** Age from which a message counts as settled: none with a smaller id comes later, unless a transaction is older. */
export const settledMs = 60_000;

/** Age from which a transaction that writes delays signers. */
export const oldWriteMs = 30_000;
