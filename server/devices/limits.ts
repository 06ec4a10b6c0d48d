/*
 * Periods of setup links, and limits of what one device token sends (section 11.7).
 */

/** How long a setup link works. */
export const setupLinkMs = 24 * 3_600_000;

/** How long a setup link that no phone used is kept after it expired. */
export const setupLinkRetentionMs = 30 * 86_400_000;

/** How many large bodies of one device token are in memory at a time. Large means larger than an ordinary request. */
export const largeDeviceBodiesMax = 4;

/** Size above which a body contains a file: no other body is this large. */
export const fileBodyMinBytes = 1_024 * 1_024;

/** How many bodies with a file are in memory at a time: of a team, and of a process. */
export const fileBodiesOfTeamMax = 2;

export const fileBodiesMax = 6;

/** How long a large body may wait until it is read: as long as iOS waits for an answer. */
export const deviceBodyWaitMaxMs = 60_000;
