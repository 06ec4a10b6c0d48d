/* Periods of API keys (specification section 5.1). */

/** Time for which a process trusts a cached key. Within this time a revoked key stops working on every process. */
export const keyCacheMs = 1_000;
