/*
 * Limits of the setup page.
 */

/** Upper bound on the test texts of one setup link. */
export const testTextsMax = 5;

/** Numbers that the test texts of one setup link may go to: one, and another to correct a typo. */
export const testRecipientsMax = 2;

/** How long a locked phone has to go on polling to pass the lock test. */
export const lockTestMs = 120_000;

/** How long the page asks the person to keep the phone locked: the test and one more poll, rounded up to minutes. */
export const unlockAfterMs = 3 * 60_000;

/** Shortest time for which the phone stays locked after its text was sent, so that a reply can come in meanwhile. */
export const unlockAfterTextMs = 90_000;

/** How long after the start of a lock test its text is sent, because the phone is locked by then. */
export const lockTextDelayMs = 45_000;

/** How long after the start of a lock test its text may be sent at the latest. */
export const lockTextMaxMs = 5 * 60_000;

/** From this long after the claim, an older shortcut that still polls is reported. Replacing both takes less time. */
export const oldShortcutAfterMs = 3 * 60_000;

/** How often the long poll of a browser looks for polls of a locked phone, because these send no notification. */
export const lockTestIntervalMs = 5_000;

/** How long a browser's long poll for the setup's progress lasts. */
export const progressPollMs = 25_000;

/** How many long polls for the progress there may be: of one link, and in a process. */
export const progressRequestsMax = { ofKey: 6, ofProcess: 1_000 } as const;

/** How long a browser waits before its next request if no further long poll is possible. */
export const progressRetrySeconds = 5;

/** Upper bound on a signed shortcut; those of Ownline have some 30 KB. */
export const shortcutFileMaxBytes = 1_024 * 1_024;

/** How long the signing command may run. */
export const signTimeoutMs = 60_000;

/** How long the rest of a failed signing command's standard error is awaited after its exit. */
export const signErrorGraceMs = 1_000;

/** Files that may wait while another one is signed. */
export const signWaitingMax = 8;

/** How long to wait before the signing command runs again for a file that it failed to sign. */
export const signFailureRetentionMs = 5 * 60_000;

/** How long a signed file is kept: the lifetime of a setup link. */
export const signedFileRetentionMs = 24 * 3_600_000;

/** Lines and characters of the signing command's standard error that are logged. */
export const signErrorMax = { lines: 5, characters: 1_000 } as const;
