/*
 * Limits and periods of the Home page (specification section 12.10).
 */

/** The period in which failed messages are counted. */
export const failedPeriodMs = 24 * 3_600_000;

/** The period in which changes of the team by API keys are shown. */
export const keyChangePeriodMs = 7 * 24 * 3_600_000;

/** How many of the team's first messages, and of its latest ones, are searched for a message that a phone has sent. */
export const firstRunMessagesMax = 1_000;
