/* Limits and periods of mail (specification section 10.6). */

/** Upper bound on concurrent attempts of a process. */
export const mailAttemptsInFlightMax = 4;

/** Time-out of a whole attempt, however slowly the mail server answers. */
export const mailAttemptMs = 60_000;

/**
 * Duration of a lease: longer than an attempt and the write of its outcome, so that only a dead process loses its
 * lease.
 */
export const mailLeaseMs = 120_000;

/** How long a stop waits for attempts in progress before it aborts them. */
export const mailStopMs = 5_000;

/** Retention of a mail's row, sent or not (specification section 10.6). */
export const mailRetentionMs = 30 * 24 * 3_600_000;
