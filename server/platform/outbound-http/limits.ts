/*
 * Limits of outgoing requests (specification sections 6.3 and 6.5).
 */

/** Addresses of a name that are tried in turn while connections are refused. */
export const addressesMax = 4;

/** How long an answer of DNS is used, whatever its TTL. */
export const dnsTtlMaxMs = 60_000;

/** What is read of a response. */
export const responseBodyMaxBytes = 16_384;

export const responseHeaderMaxBytes = 16_384;
