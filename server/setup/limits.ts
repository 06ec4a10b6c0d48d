/*
 * Limits of the setup page (specification section 11.8).
 */

/** Test texts of one setup link. */
export const testTextsMax = 5;

/** How long a phone that was locked has to go on polling. */
export const lockTestMs = 120_000;

/** How long the page asks to keep the phone locked: the test and a poll more, by a clock without seconds. */
export const unlockAfterMs = 3 * 60_000;

/** How long after the start of a lock test its text is accepted: the phone is locked by then. */
export const lockTextDelayMs = 45_000;

/** A text of a lock test that is not sent this long after the start comes too late. */
export const lockTextMaxMs = 5 * 60_000;

/** How often a held request looks at the polls of a phone that is locked: polls notify nothing. */
export const lockTestIntervalMs = 5_000;

/** How long a request for the progress is held. */
export const progressHoldMs = 25_000;

/** Requests for the progress that a process holds, of one link and of all. */
export const heldProgressMax = { ofLink: 6, ofProcess: 1_000 } as const;

/** How long a browser waits to ask again where no more requests are held. */
export const progressRetrySeconds = 5;

/** A signed shortcut: the two of Ownline have some 30 KB. */
export const shortcutFileMaxBytes = 1_024 * 1_024;

/** How long the signing command may run. */
export const signTimeoutMs = 60_000;

/** How long the end of its standard error may come after the exit of a signing command that failed. */
export const signErrorGraceMs = 1_000;

/** Files that may wait while another one is signed. */
export const signWaitingMax = 8;

/** How long the signing command does not run again for a file that it failed to sign. */
export const signFailureRetentionMs = 5 * 60_000;

/** How long a file that the signing command made is kept: as long as a setup link. */
export const signedFileRetentionMs = 24 * 3_600_000;

/** Lines and characters of the signing command's standard error that are logged. */
export const signErrorMax = { lines: 5, characters: 1_000 } as const;
