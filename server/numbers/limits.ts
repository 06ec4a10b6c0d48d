/*
 * Periods of numbers (specification section 4.2).
 */

/** How long a new number may stay without a phone; then it is deleted (specification section 4.2). */
export const pendingNumberMs = 7 * 24 * 3_600_000;

/**
 * Length of a process's lease on a simulated phone (specification section 12.13). The process renews it four times in
 * this period.
 */
export const simulatedPhoneLeaseMs = 20_000;
export const simulatedPhoneSweepMs = 5_000;

/** Maximum number of simulated phones in one process; other processes may run more. */
export const simulatedPhonesMax = 100;

/** A test line without a message for this long leaves its phone to a number that waits for one. */
export const testLineIdleMs = 60_000;

/** Shortest and longest pause before a simulated phone that ended is connected again. */
export const simulatedPhonePauseMinMs = 2_000;
export const simulatedPhonePauseMaxMs = 60_000;

/** A number is late, and later offline, after this long without a poll (specification section 4.7). */
export const lateAfterMs = 90_000;
export const offlineAfterMs = 5 * 60_000;

/** How long a number warns that its device described itself differently. */
export const deviceChangeShownMs = 30 * 24 * 3_600_000;

/** How often a process that serves polls records its heartbeat. */
export const pollServiceIntervalMs = 10_000;

/**
 * A longer gap between heartbeats means that no process served polls. A number's silence is then counted from the gap's
 * end.
 */
export const pollServiceGapMs = 30_000;

/** How long a mail waits after the first change, so that it lists the numbers that changed together. */
export const healthMailDelayMs = 60_000;

/** Shortest time between two mails that say the same number went offline. */
export const offlineMailIntervalMs = 3_600_000;

/** Upper bound on the waiting messages that a health event counts. */
export const queuedCountMax = 10_000;

/** After a silence longer than this, a stopped automation is a likelier cause than a lack of power or network. */
export const shortSilenceMs = 3_600_000;

/** Phones whose last polls are within this time of each other fell silent together. */
export const jointSilenceMs = 120_000;
