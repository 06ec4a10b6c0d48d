/*
 * Periods of setup links (specification section 4.2).
 */

/** How long a setup link works (specification section 4.2). */
export const setupLinkMs = 24 * 3_600_000;

/** How long an expired setup link is kept where no phone used it. */
export const setupLinkRetentionMs = 30 * 86_400_000;
