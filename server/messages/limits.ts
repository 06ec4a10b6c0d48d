/*
 * Limits and periods of messages (specification sections 2.5, 3.2, 4.3 and 11.5).
 */

/** How long an Idempotency-Key is kept (specification section 4.3). */
export const idempotencyKeyMs = 24 * 3_600_000;

/** Several automations of an iPhone may fire for one text; the same text this soon is the same message. */
export const duplicateInboundMs = 20_000;

/** Repeats of one run of a shortcut are known for this long: 12 calls of a minute at most, and 15 s after each. */
export const inboundRunMs = 15 * 60_000;

/** How long the fingerprint of an inbound message is kept: three times the longer of these periods. */
export const fingerprintRetentionMs = 45 * 60_000;

/** Longer than any real handle; the indexes of the history could not hold one of any length. */
export const handleMaxCharacters = 320;

/** How long after a hand-out a late "sent" is accepted (specification section 3.2). */
export const lateReportMs = 72 * 3_600_000;

/** Past this the phone may be offline (specification section 2.5). */
export const offlineAfterMs = 5 * 60_000;

/**
 * Messages that a page reads at most. If filters exclude most of them, the page is short, and its cursor is
 * the position that was reached. So the cost of a page has a bound for all filters and any length of
 * history (decision 0012).
 */
export const messagePageExaminedMax = 10_000;

/** Sends that wait to be accepted in a process; past that, a team with its share of them is refused (section 8). */
export const sendsWaitingMax = 5_000;

/** Fetches of media that a process runs at a time: of all teams, of one, and of one to one scheme, host and port. */
export const mediaFetchesMax = 32;

export const mediaFetchesPerTeamMax = 12;

export const mediaFetchesPerOriginMax = 4;

/** Limits with the reserve, for the first fetch of a team to an origin: hosts that hang may fill the other slots. */
export const mediaFetchesPerTeamWithReserveMax = 24;

export const mediaFetchesWithOriginReserveMax = 48;

/** The limit of the process for the first fetch of a team. */
export const mediaFetchesWithReserveMax = 64;

/** Teams with waiting fetches, and origins of each, that a claim looks at. */
export const mediaTeamsExaminedMax = 1_000;

export const mediaOriginsExaminedMax = 50;

/** Due fetches of all teams, from the oldest, whose teams and origins a claim looks at besides these. */
export const mediaOldestExaminedMax = 100;

/** How much longer than its deadline a fetch is leased: time for storing the rest, and for finishing. */
export const mediaLeaseMarginMs = 30_000;

/** How long hand-outs are kept for the windows of pacing: the longest is a day. */
export const recentHandOutMs = 25 * 3_600_000;

/** Messages ahead that an estimate of a hand-out examines; behind more of them a message has none. */
export const messagesAheadMax = 10_000;

/** The same under strict, where each contact of a message ahead costs a look-up. */
export const strictAheadMax = 1_000;

/** The same text to more new contacts than this within this time is warned of. */
export const repeatedTextContactsMax = 10;

export const repeatedTextMs = 3_600_000;

/** Spellings of a contact that its conversation keeps, beside the normalized one. */
export const contactSpellingsMax = 16;
