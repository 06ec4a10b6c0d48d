/* Limits of a team's requests (specification sections 7.2 and 8). */

/** How many requests of one team run at once in this process: half of the connections for pages. */
export const teamRequestsRunningMax = 3;

/** How many requests of a team may wait in each queue: of its keys, and of its members. */
export const teamRequestsWaitingMax = 1_000;

/** Time-out of a waiting request: as long as a statement may take, and shorter than the time-out of most clients. */
export const teamRequestWaitMaxMs = 10_000;

/**
 * Time-out of a phone's waiting call: as long as iOS waits for an answer, because a phone may not repeat a refused
 * text. The rate limits of a device token bound the number of such calls.
 */
export const deviceCallWaitMaxMs = 60_000;

/**
 * The rate limit of a team's members, as a multiple of the limit of its keys, because a page sends several requests at
 * once.
 */
export const teamMembersRateMultiple = 5;
