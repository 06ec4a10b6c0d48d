/*
 * Limits of repeated refusals in the audit log (specification section 12.6).
 */

/** How long equal refusals are counted before one row is written for them. */
export const refusalWindowMs = 60_000;

/** Kinds of refusals of one team or account that are recorded in a window. */
export const refusalKindsMax = 100;
