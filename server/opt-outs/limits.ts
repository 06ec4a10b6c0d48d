/*
 * Limits of opt-outs (specification section 4.6).
 */

/** A longer text is no keyword, and is not compared. UTF-16 code units. */
export const keywordTextMaxCharacters = 1_000;

/** More digits are a phone number, which needs its country code (specification section 11.5). */
export const shortCodeDigitsMax = 6;
