/*
 * Limits and periods per client network (specification section 7.2).
 */

/** Refusals of credentials per client network and minute. */
export const refusedCredentialsPerMinute = 60;

/** How long an unknown credential is refused from memory, without another look-up. */
export const unknownCredentialTtlMs = 10_000;

/** Unknown credentials that are kept in memory; the oldest is evicted. */
export const unknownCredentialCacheMax = 10_000;

/** How often the look-ups of networks past their limit share a statement. */
export const throttledLookupIntervalMs = 50;

/** Addresses of X-Forwarded-For that are followed, from its end. A client may write 8,000 of them into a header. */
export const forwardedAddressesMax = 20;
