/*
 * Limits of opt-outs (specification section 4.6).
 */

/** Upper bound on a text that is compared with the keywords, in UTF-16 code units; a longer text is no keyword. */
export const keywordTextMaxCharacters = 1_000;

/**
 * Most digits of a short code. A handle with more digits is a phone number, which needs its country code (specification
 * section 11.5).
 */
export const shortCodeDigitsMax = 6;
