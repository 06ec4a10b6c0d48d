/*
 * Limits and periods of the device protocol (specification sections 11.2 to 11.7).
 */

export const pollsPerMinute = 300;

/** Time that the first look-up of a batch waits for others, if its poll reports a message (decision 0039). */
export const reportingPollWindowMs = 5;

/**
 * The same for all other polls. Most of them follow an empty answer to a long poll, so their wait delays no message.
 */
export const idlePollWindowMs = 40;

/**
 * How long a session lives after a poll began: the full time of the long poll, and 35 s after its answer (specification
 * section 11.2).
 */
export function sessionLifeAfterAnswerMs(holdMs: number): number {
  return holdMs + 35_000;
}

/** How long a stop waits for an answer of another process; a notification takes milliseconds. */
export const peersAnswerMs = 500;

/** How often processes that have peers tell them that they live, and after how many of these a silent one is forgotten. */
export const peersBeatMs = 10_000;
export const silentBeatsMax = 3;

/**
 * Claims whose hand-outs a process looks for after a promotion. It looks for none of a message that retention deletes
 * within this time.
 */
export const markedClaimsMax = 16;
export const unpurgedMs = 3_600_000;

/** How long a round after an outage holds messages: a stop waits for the round, and polls do. */
export const holdsAtOnceMs = 1_000;

/** How long a promotion waits for the vouch of a process that was claiming, and how long a new process waits for a verdict. */
export const silentPeersWaitMs = 10_000;
export const strangersWaitMs = 15_000;

/** Pause before a poll is looked up again while the database is away. */
export const lookUpPauseMs = 500;

/** Seconds of `unavailable`: at random, so that not all clients come back at once. The shortcut always waits 15 s. */
export const unavailableWaitSeconds = { min: 5, max: 20 };

/** Seconds that a phone waits if this process stops and another one serves polls. */
export const elsewhereWaitSeconds = 1;

/** How long a poll over the rate limit waits for its answer. */
export const overLimitHoldMs = 5_000;

export const inboundPerMinute = 120;

/** Downloads of files per device. A phone downloads the file of a message once per hand-out. */
export const mediaPerMinute = 120;

/** Status reports per device. Each follows a poll, so this limit equals `pollsPerMinute`. */
export const statusesPerMinute = 300;

/**
 * A poll that comes within this time after a hand-out, without a report, is a proxy's repeat of the earlier poll. The
 * hand-out stays open.
 */
export const repeatedPollMs = 10_000;

/**
 * Grace: after a takeover, a hand-out of the older session may be reported for this long, counted from the hand-out.
 */
export const takeoverReportGraceMs = 180_000;

/**
 * How far ahead of the service's time a session's start may lie after a restore, because the old server's clock may
 * have been wrong.
 */
export const sessionAheadMaxMs = 86_400_000;

/** A setup link's token has 43 characters; the rest of the body is small. */
export const claimBodyMaxBytes = 4 * 1_024;

/**
 * A file of 5 MiB has 7 MB in base64. The remaining bytes fit a text of 170,000 escaped characters; iMessage allows
 * some 20,000.
 */
export const inboundBodyMaxBytes = 8 * 1_024 * 1_024;

/** Bytes of an inbound message beside its file: a text of 170,000 escaped characters. */
export const textBodyMaxBytes = 1_024 * 1_024;

/** A file is decoded in pieces of this size, about a millisecond each, so that other requests run between them. */
export const mediaPieceBytes = 128 * 1_024;

/** Bytes of the body of a poll or a status. */
export const pollBodyMaxBytes = 256 * 1_024;

/** Maximum number of fields in a device's body; shortcuts send about a dozen. */
export const deviceFieldsMax = 32;

/**
 * Maximum number of values in a device's body, counted before it is parsed. A shortcut may send a text as a list of
 * lines.
 */
export const deviceBodyValuesMax = 4_096;

/** The longest time until a poll that pacing holds back checks the queue again. */
export const pacedCheckMaxMs = 10_000;

/** The shortest time between two checks by a poll while pacing holds back messages to some contacts. */
export const pacedContactsCheckMinMs = 1_000;
