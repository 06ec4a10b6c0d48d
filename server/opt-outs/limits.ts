/*
 * Limits of opt-outs (specification section 4.6).
 */

/** A longer text is no keyword, and is not compared. In UTF-16 code units. */
export const keywordTextMaxCharacters = 1_000;

/** A handle with more digits is a phone number, which needs its country code (specification section 11.5). */
export const shortCodeDigitsMax = 6;
