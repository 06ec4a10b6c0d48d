/* Limits of the feed (specification section 4.5). */

/** Long polls for events that a process holds at most: of a team, and in all (specification section 4.5). */
export const heldFeedRequestsMax = { ofTeam: 20, ofProcess: 2_000 } as const;

/** Deliveries written in their event's transaction; an event for more webhooks gets them after the commit. */
export const smallFanOutMax = 100;

/** Time-out of the wait for an event's position. Events get theirs within milliseconds, so something is wrong then. */
export const publishWaitMaxMs = 5_000;
