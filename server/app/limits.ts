/* Limits of requests that need no credential (specification section 7.2). */

/** Requests per minute and client network for pages, static content and unknown paths. */
export const publicRequestsPerMinute = 6_000;

/** Requests per minute and client network for forms and operations without a session, such as signing in. */
export const visitorRequestsPerMinute = 120;
