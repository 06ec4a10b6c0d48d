/*
 * Limits and periods of live streams (specification section 12.9).
 */

/** Live streams at a time: of a team and of an account, on this process, and of all. */
export const liveStreamsMax = { ofTeam: 200, ofAccount: 20, ofProcess: 2_000 } as const;

/** Rows are sent at most this often; a first change waits shortly for those of the same commit. */
export const rowsIntervalMs = 250;

export const changesGatherMs = 10;

/** The event `changed` is sent at most this often. */
export const changedIntervalMs = 1_000;

/** Everything that is shown is read again after this time, since a hint may be lost (decision 0018). */
export const refreshIntervalMs = 30_000;

/** Messages that a refresh reads: the newest ones. */
export const refreshMessagesMax = 50;

/** Messages of one event. More are not read: `changed` says that there are some. */
export const rowMessagesMax = 200;

/** Conversations of one event, of which each costs several look-ups. With more, `changed` names the type message. */
export const rowConversationsMax = 50;

/** JSON of one event; larger messages are not sent, and `changed` stands for them. */
export const rowsMaxBytes = 256 * 1_024;

/**
 * A new message may be committed after one with a later id. So reads go back by this much, which is longer than a
 * send waits for a lock.
 */
export const commitDelayMs = 6_000;

/** Bytes that a slow client may leave untaken before its stream is closed. */
export const streamBufferMaxBytes = 1_024 * 1_024;

export const keepAliveMs = 15_000;

/** Session, membership and role of a stream are checked again after this time. */
export const accessCheckMs = 10_000;

/** Reads of all teams that run at a time: they take few of the process's connections. */
export const liveReadsRunningMax = 2;

/** Range of the time after which a browser opens an ended stream again, so that not all do at once. */
export const retryMinMs = 1_000;

export const retryMaxMs = 4_000;
