/*
 * Limits and periods of the Home page (specification section 12.10).
 */

/** The period in which failed messages are counted. */
export const failedPeriodMs = 24 * 3_600_000;

/** The first and the latest messages that are searched for a sent one. */
export const firstRunMessagesMax = 1_000;
