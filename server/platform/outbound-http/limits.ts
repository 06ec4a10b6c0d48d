/*
 * Limits of outgoing requests (specification sections 6.3 and 6.5).
 */

/** Addresses of a name that are tried one after the other while connections are refused. */
export const addressesMax = 4;

/** How long a DNS answer is cached, even with a longer TTL. */
export const dnsTtlMaxMs = 60_000;

/** Bytes of a response body that are read at most. */
export const responseBodyMaxBytes = 16_384;

export const responseHeaderMaxBytes = 16_384;
