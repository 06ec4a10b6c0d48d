/*
 * Limits and periods of the Home page (specification section 12.10).
 */

/** Period of the count of failed messages. */
export const failedPeriodMs = 24 * 3_600_000;

/** The first and the latest messages that are searched for one that was sent. */
export const firstRunMessagesMax = 1_000;

/** A phone that has been silent for longer than this rather has a stopped automation than no power or network. */
export const shortSilenceMs = 3_600_000;
