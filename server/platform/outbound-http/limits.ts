/* Limits of outgoing requests (specification sections 6.3 and 6.5). */

/** Addresses of a name that are tried in turn while connections are refused. */
export const addressesMax = 4;

/** Upper bound on caching a DNS answer, even with a longer TTL. */
export const dnsTtlMaxMs = 60_000;

/** Upper bounds on the bytes of a response that are read: of its body, and of its headers. */
export const responseBodyMaxBytes = 16_384;

export const responseHeaderMaxBytes = 16_384;
