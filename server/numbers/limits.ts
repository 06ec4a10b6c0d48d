/*
 * Periods of numbers (specification section 4.2).
 */

/** How long a number may stay without a phone (specification section 4.2). */
export const pendingNumberMs = 7 * 24 * 3_600_000;
