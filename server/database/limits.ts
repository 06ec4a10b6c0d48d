/*
 * Limits and periods of the service's clock (specification section 10.7, decision 0020).
 */

/** The smallest difference that counts as a step: normal clocks differ by milliseconds a minute. */
export const clockStepMinMs = 10_000;

/** How long the database's clock has to be steady after a step before the service's time follows it. */
export const clockSettleMs = 600_000;

/** How far ahead the database's clock may be while rows still expire. */
export const expiryClockAheadMaxMs = 300_000;

/** How often the database's clock is read: an error that lasts a minute is noticed. */
export const clockCheckMs = 10_000;

/** How often the time is saved beside the machine's uptime. */
export const bootClockReadingIntervalMs = 60_000;
