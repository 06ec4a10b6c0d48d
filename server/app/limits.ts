/*
 * Limits of requests that need no credential (specification section 7.2).
 */

/** Pages, static content and requests that no route serves, per minute and client network. */
export const publicRequestsPerMinute = 6_000;

/** Forms and operations without a session, such as signing in, per minute and client network. */
export const visitorRequestsPerMinute = 120;
