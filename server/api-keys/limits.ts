/* Periods of API keys (specification section 5.1). */

/** Time for which a process trusts a cached key: a revoked key stops working within it on every process. */
export const keyCacheMs = 1_000;
