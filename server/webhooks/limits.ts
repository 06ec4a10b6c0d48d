/*
 * Limits and periods of webhooks and deliveries (specification sections 6.3 and 6.4).
 */

/**
 * Slots of a webhook in each lane, over all processes: deliveries that are claimed and whose results are not yet
 * written. With 128 a receiver on the next machine is saturated, and a hanging one takes no slot of another team. Later
 * attempts and replays have fewer slots beside first ones: they are not urgent, and never wait behind a backlog.
 */
export const laneSlots = { live: 128, retry: 32, replay: 16, manual: 8 } as const;

export type Lane = keyof typeof laneSlots;

/** From this number of failures in a row on, a webhook gets one attempt at a time (specification section 6.3). */
export const oneAtATimeFailuresMin = 3;

/** Slots of a team in one process: two webhooks at full speed. Four teams whose receivers all hang fill a process. */
export const teamSlots = 256;

/** Slots of a process: each may hold a connection and 16 KB of an answer. */
export const processSlots = 1_024;

/** Deliveries that one statement claims at most: with more, the first ones would wait for the last. */
export const claimBatchMax = 256;

/** Webhooks that one statement walks; the next one continues after them. */
export const walkedWebhooksMax = 500;

/** How much longer than its attempt a lease is, for recording the result: past it the process counts as dead. */
export const leaseMarginMs = 20_000;

/** Both secrets sign for this long (specification section 6.4). */
export const secretRotationMs = 24 * 3_600_000;

/** Deliveries that a page reads at most: if filters exclude most of them, it is short (decision 0012). */
export const deliveryPageExaminedMax = 10_000;

/** How long a stop waits for attempts in progress before it aborts them (specification section 10.3). */
export const dispatcherStopMs = 10_000;
