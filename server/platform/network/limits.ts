/* Limits and periods per client network (specification section 7.2). */

/** Refused credentials per client network and minute. */
export const refusedCredentialsPerMinute = 60;

/** Time for which an unknown credential is refused from memory, without a look-up. */
export const unknownCredentialTtlMs = 10_000;

/** Unknown credentials kept in memory; the oldest is evicted. */
export const unknownCredentialCacheMax = 10_000;

/** Interval at which look-ups of networks over their limit share a statement. */
export const throttledLookupIntervalMs = 50;

/** Number of addresses of X-Forwarded-For that are examined, from its end; a client may write 8,000 into a header. */
export const forwardedAddressesMax = 20;
