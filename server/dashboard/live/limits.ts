/*
 * Limits and periods of live streams (specification section 12.9).
 */

/** Upper bounds on open live streams in this process: of a team, of an account, and in all. */
export const liveStreamsMax = { ofTeam: 200, ofAccount: 20, ofProcess: 2_000 } as const;

/** Time that the first change after a pause waits for other changes of its commit. */
export const changesGatherMs = 10;

/** Shortest time between two events `changed`: a page that then reads shows each change within a second. */
export const changedIntervalMs = 900;

/** Unread bytes of a slow client at which its stream is closed. */
export const streamBufferMaxBytes = 1_024 * 1_024;

export const keepAliveMs = 15_000;

/** How often a stream's session, membership and role are checked. */
export const accessCheckMs = 10_000;

/**
 * Range of the random time after which a browser reopens an ended stream, so that not all browsers reconnect at once.
 */
export const retryMinMs = 1_000;

export const retryMaxMs = 4_000;
