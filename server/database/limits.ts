/*
 * Limits and periods of the service's clock (specification section 10.7, decision 0020).
 */

/** The smallest difference that counts as a clock step: normal clocks drift by milliseconds a minute. */
export const clockStepMinMs = 10_000;

/** How long the database's clock has to be steady after a step before the service's time follows it. */
export const clockSettleMs = 600_000;

/** How far ahead of the service's time the database's clock may be before expiry is suspended. */
export const expiryClockAheadMaxMs = 300_000;

/** A stored time that is at most this much too far ahead is kept, because the clocks of processes differ a little. */
export const futureSlackMs = 10_000;

/** How often the database's clock is read: errors that last a minute are noticed. */
export const clockCheckMs = 10_000;

/** How often the service's time is stored together with the machine's uptime. */
export const bootClockReadingIntervalMs = 60_000;
