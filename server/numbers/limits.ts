/*
 * Periods of numbers (specification section 4.2).
 */

/** How long a number may stay without a phone (specification section 4.2). */
export const pendingNumberMs = 7 * 24 * 3_600_000;

/** Lease of a process on a simulated phone (specification section 12.13), renewed four times in it. */
export const simulatedPhoneLeaseMs = 20_000;
export const simulatedPhoneSweepMs = 5_000;

/** Simulated phones that a process runs; those of further numbers wait. */
export const simulatedPhonesMax = 100;

/** Pauses before a simulated phone that ended is connected again. */
export const simulatedPhonePauseMinMs = 2_000;
export const simulatedPhonePauseMaxMs = 60_000;
