/*
 * Limits of the feed (specification section 4.5).
 */

/** Requests for events that one process holds for a team, and for all together (specification section 4.5). */
export const heldFeedRequestsMax = { ofTeam: 20, ofProcess: 2_000 } as const;

/** Deliveries of one event that are written with it; those for more webhooks are written after the commit. */
export const smallFanOutMax = 100;

/** An event gets its position within milliseconds. After this time without a publisher, something is wrong. */
export const publishWaitMaxMs = 5_000;
