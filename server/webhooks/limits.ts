/* Limits and periods of webhooks and deliveries (specification sections 6.3 and 6.4). */

/**
 * Slots of each lane of a webhook, over all processes. A slot is a claimed delivery whose result is not written yet.
 * 128 slots saturate a receiver in the same network, and a hanging receiver takes no slot of another team. Retries and
 * replays have few slots, because they are not urgent. Their slots are separate, so that they never wait behind a
 * backlog of first attempts.
 */
export const laneSlots = { live: 128, retry: 32, replay: 16, manual: 8 } as const;

export type Lane = keyof typeof laneSlots;

export const lanes = Object.keys(laneSlots) as Lane[];

/** From this number of failures in a row on, a webhook gets one attempt at a time (specification section 6.3). */
export const oneAtATimeFailuresMin = 3;

/**
 * Slots of a team in one process: enough for two webhooks at full speed. Four teams with hanging receivers can fill a
 * process.
 */
export const teamSlots = 256;

/** Slots of a process: each may use a connection and 16 KB of a response. */
export const processSlots = 1_024;

/**
 * How many deliveries one statement claims at most. In a larger batch the first deliveries would wait for the last one.
 */
export const claimBatchMax = 256;

/** How many webhooks one claim examines; the next claim continues after them. */
export const examinedWebhooksMax = 500;

/** How much longer than its attempt a lease lasts, to record the result. After that the process counts as dead. */
export const leaseMarginMs = 20_000;

/** Duration of a rotation, in which both secrets sign (specification section 6.4). */
export const secretRotationMs = 24 * 3_600_000;

/** Deliveries that a page reads at most: a page whose filters exclude most of them is short (decision 0012). */
export const deliveryPageExaminedMax = 10_000;

/** Time that a stop waits for attempts in progress before it aborts them (specification section 10.3). */
export const dispatcherStopMs = 10_000;
