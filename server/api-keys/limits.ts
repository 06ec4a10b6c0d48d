/*
 * Periods of API keys (specification section 5.1).
 */

/** How long a process uses a key from its cache: a revoked key stops working within this time on every process. */
export const keyCacheMs = 1_000;
