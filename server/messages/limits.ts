/*
 * Limits and periods of messages (specification sections 2.5, 3.2, 4.3 and 11.5).
 */

/** How long an Idempotency-Key is kept (specification section 4.3). */
export const idempotencyKeyMs = 24 * 3_600_000;

/**
 * An equal text is the same message for this long after the latest call of the message. An iPhone runs the automations
 * that fire for one text one after another, with other runs in between (decision 0052).
 */
export const repeatGapMs = 60_000;

/** How long a run of the shortcut repeats its call during an outage: 10 calls, 15 s apart, with some time for each. */
export const runCallsMs = 150_000;

/** An equal text later than this after the first call is always another message. */
export const repeatsMs = 5 * 60_000;

/**
 * How long an equal text may be a late repeat, if automations of the earlier message have not called. An iPhone runs
 * what it has queued with its next text, so this covers a quiet weekend, and no weekly reply.
 */
export const possibleRepeatMs = 72 * 3_600_000;

/** How long a START may be a late repeat of an equal one. An iPhone keeps what it has queued for at most 7 days. */
export const equalStartMs = 7 * 86_400_000;

/**
 * How long repeats of one run of a shortcut are recognized. A run makes at most 10 calls, 15 s apart, and each takes up
 * to a minute.
 */
export const inboundRunMs = 15 * 60_000;

/** How long the fingerprint of an inbound message is kept if no call is missing: three times as long as a run. */
export const fingerprintRetentionMs = 45 * 60_000;

/** Upper bound on stored handles, longer than any real one, because an index entry has a maximum size. */
export const handleMaxCharacters = 320;

/** How long after a hand-out a late "sent" is accepted (specification section 3.2). */
export const lateReportMs = 72 * 3_600_000;

/**
 * Messages that one page reads at most (decision 0012). If filters exclude most of them, the page is short, and its
 * cursor is the last position read.
 */
export const messagePageExaminedMax = 10_000;

/**
 * Upper bound on the sends that wait in a process. At this bound, a team that has its equal share is refused
 * (specification section 8).
 */
export const sendsWaitingMax = 5_000;

/** Upper bound on waiting look-ups in a process, and on claims and on reports: more than one for each phone. */
export const phonesWaitingMax = 50_000;

/** Time that the first claim or report of a batch waits for others (decision 0039). */
export const phoneCommitWindowMs = 2;

/** Media fetches that a process runs at a time: in all, for one team, and for one team from one origin. */
export const mediaFetchesMax = 32;

export const mediaFetchesPerTeamMax = 12;

export const mediaFetchesPerOriginMax = 4;

/**
 * Higher limits for a team's first fetch from an origin. They reserve slots, because hosts that hang may fill all slots
 * of the lower limits.
 */
export const mediaFetchesPerTeamWithReserveMax = 24;

export const mediaFetchesWithOriginReserveMax = 48;

/** The process's higher limit for the first fetch of a team. */
export const mediaFetchesWithReserveMax = 64;

/** Teams with waiting fetches, and origins per team, that a claim of media fetches examines. */
export const mediaTeamsExaminedMax = 1_000;

export const mediaOriginsExaminedMax = 50;

/** A claim also examines this many of the oldest due fetches, whatever their teams and origins. */
export const mediaOldestExaminedMax = 100;

/** How much longer than its deadline a fetch is leased: time to store the rest and to finish. */
export const mediaLeaseMarginMs = 30_000;

/** How long hand-outs are kept for pacing, whose longest window is a day. */
export const recentHandOutMs = 25 * 3_600_000;

/** Messages ahead that an estimate of a hand-out examines; if there are more, no estimate is given. */
export const messagesAheadMax = 10_000;

/**
 * Messages ahead that an estimate examines under strict pacing, where each contact of a message ahead costs a look-up.
 */
export const strictAheadMax = 1_000;

/** Spellings of a contact that its conversation keeps beside the normalized one. */
export const contactSpellingsMax = 16;
