/*
 * Limits of a team's requests (specification sections 7.2 and 8).
 */

/** Requests of one team that run at once in this process: half of the connections for pages (database.ts). */
export const teamRequestsRunningMax = 3;

/** Requests of a team that may wait, by keys and by members each. */
export const teamRequestsWaitingMax = 1_000;

/** The time-out of that wait: as long as a statement may take, and shorter than the time-out of most clients. */
export const teamRequestWaitMaxMs = 10_000;

/**
 * The same for a phone's call. A phone may not repeat a text that was refused, so it waits for as long as iOS waits for
 * an answer. The limits per minute of a token bound the number of such calls.
 */
export const deviceCallWaitMaxMs = 60_000;

/** Requests per minute of all members of a team, as a multiple of its keys' limit: pages send several at once. */
export const teamMembersRateMultiple = 5;
