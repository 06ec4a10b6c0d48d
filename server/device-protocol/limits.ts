/*
 * Limits and periods of the device protocol (specification sections 11.2 to 11.7).
 */

export const pollsPerMinute = 300;

/** How long a poll over the limit is held before it is answered. */
export const overLimitHoldMs = 5_000;

export const inboundPerMinute = 120;

/** A phone fetches a file once for each hand-out. */
export const mediaPerMinute = 120;

/** A report follows a hand-out, and a hand-out a poll: the limit is that of polls. */
export const statusesPerMinute = 300;

/**
 * Within this time a poll that names another message than the one in flight is a proxy's repeat:
 * no hand-out is resolved.
 */
export const repeatedPollMs = 10_000;

/** Grace: how long a message of the old session may be reported after a takeover, counted from its hand-out. */
export const takeoverReportGraceMs = 180_000;

/** A setup link's token has 43 characters. */
export const claimBodyMaxBytes = 4 * 1_024;

/**
 * A file of 5 MiB in base64 has 7 MB; the rest is larger than any text: 170,000 characters fit with each of them
 * escaped, and iMessage takes some 20,000.
 */
export const inboundBodyMaxBytes = 8 * 1_024 * 1_024;

/** The body of a poll or a status. */
export const pollBodyMaxBytes = 256 * 1_024;

/** Fields of a device's body: a flat one has a dozen. */
export const deviceFieldsMax = 32;

/**
 * Values of a device's body, counted before it is parsed: a text that a shortcut sends as a list may have many lines.
 */
export const deviceBodyValuesMax = 4_096;

/** A poll that pacing holds back looks again after this time at the latest. */
export const pacedLookMs = 10_000;

/** Where pacing holds back messages to some contacts, messages that arrive make a poll look again this often at most. */
export const pacedContactsLookMs = 1_000;
