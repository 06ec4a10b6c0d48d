/*
 * Limits and periods of live streams (specification section 12.9).
 */

/** Upper bounds on open live streams in this process: of a team, of an account, and in all. */
export const liveStreamsMax = { ofTeam: 200, ofAccount: 20, ofProcess: 2_000 } as const;

/**
 * Shortest time between two events `rows`. The first change after a pause waits only `changesGatherMs`, for other
 * changes of its commit.
 */
export const rowsIntervalMs = 250;

export const changesGatherMs = 10;

/** Shortest time between two events `changed`. */
export const changedIntervalMs = 1_000;

/** All rows on display are read again after this time, because a hint may be lost (decision 0018). */
export const refreshIntervalMs = 30_000;

/** Newest messages that a refresh reads. */
export const refreshMessagesMax = 50;

/** Upper bound on the messages of one event. Beyond it no message is read, and `changed` announces them. */
export const rowMessagesMax = 200;

/**
 * Upper bound on the conversations of one event; each costs several look-ups. Beyond it `changed` names the type
 * message.
 */
export const rowConversationsMax = 50;

/** Upper bound on an event's JSON. A larger list of messages is not sent, and `changed` announces it. */
export const rowsMaxBytes = 256 * 1_024;

/**
 * How far a read of new messages goes back, because a message may commit after another one with a later id. A send
 * waits less than this for a lock.
 */
export const commitDelayMs = 6_000;

/** Unread bytes of a slow client at which its stream is closed. */
export const streamBufferMaxBytes = 1_024 * 1_024;

export const keepAliveMs = 15_000;

/** How often a stream's session, membership and role are checked. */
export const accessCheckMs = 10_000;

/** Upper bound on concurrent reads of all teams, so that they take few of the process's connections. */
export const liveReadsRunningMax = 2;

/**
 * Range of the random time after which a browser reopens an ended stream, so that not all browsers reconnect at once.
 */
export const retryMinMs = 1_000;

export const retryMaxMs = 4_000;
