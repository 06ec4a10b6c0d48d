/* Limits of the feed (specification section 4.5). */

/**
 * Maximum number of long polls for events that a process holds: for one team, and in all (specification section 4.5).
 */
export const heldFeedRequestsMax = { ofKey: 20, ofProcess: 2_000 } as const;

/**
 * Time-out of the wait for an event's position. Events get a position within milliseconds, so a longer wait means that
 * publishing is broken.
 */
export const publishWaitMaxMs = 5_000;
