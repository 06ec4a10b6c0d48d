/*
 * Periods of numbers (specification section 4.2).
 */

/** How long a number may stay without a phone (specification section 4.2). */
export const pendingNumberMs = 7 * 24 * 3_600_000;

/** Lease of a process on a simulated phone (specification section 12.13), renewed four times before it ends. */
export const simulatedPhoneLeaseMs = 20_000;
export const simulatedPhoneSweepMs = 5_000;

/** Simulated phones that a process runs; other processes may run more. */
export const simulatedPhonesMax = 100;

/** Shortest and longest pause before a simulated phone that ended is connected again. */
export const simulatedPhonePauseMinMs = 2_000;
export const simulatedPhonePauseMaxMs = 60_000;

/** A number is late, and later offline, after this long without a poll (specification section 4.7). */
export const lateAfterMs = 90_000;
export const offlineAfterMs = 5 * 60_000;

/** How often a process that serves polls records its heartbeat. */
export const pollServiceIntervalMs = 10_000;

/** After a longer gap between heartbeats, polls were not served: a number's silence is counted from the gap's end. */
export const pollServiceGapMs = 30_000;

/** How long a mail waits after the first change, so that it lists the numbers that changed together. */
export const healthMailDelayMs = 60_000;

/** Shortest time between two mails that say the same number went offline. */
export const offlineMailIntervalMs = 3_600_000;

/** Waiting messages of a number that its health event counts at most. */
export const queuedCountMax = 10_000;

/** After a longer silence, a stopped automation is more likely than a lack of power or network. */
export const shortSilenceMs = 3_600_000;

/** Phones whose last polls are within this time of each other fell silent together. */
export const jointSilenceMs = 120_000;
