/*
 * Periods of setup links (specification section 4.2), and limits of what one device token sends (section 11.7).
 */

/** How long a setup link works (specification section 4.2). */
export const setupLinkMs = 24 * 3_600_000;

/** How long an expired setup link is kept where no phone used it. */
export const setupLinkRetentionMs = 30 * 86_400_000;

/** Bodies of a device token beyond the size of an ordinary request that are in memory at a time. */
export const largeDeviceBodiesMax = 4;

/** A larger body carries a file. */
export const fileBodyMinBytes = 1_024 * 1_024;

/** Bodies with a file that are in memory at a time: of a team, and of a process. */
export const fileBodiesOfTeamMax = 2;

export const fileBodiesMax = 6;

/** How long a further one may wait: as long as iOS waits for an answer. */
export const deviceBodyWaitMaxMs = 60_000;
