/* Limits of repeated refusals in the audit log (specification section 12.6). */

/** Time in which equal refusals are counted; one row then records all of them. */
export const refusalWindowMs = 60_000;

/** Upper bound on the kinds of refusals of one team or account that a window records. */
export const refusalKindsMax = 100;
