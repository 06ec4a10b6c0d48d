/*
 * Periods of setup links (specification section 4.2).
 */

/** How long a setup link works (specification section 4.2). */
export const setupLinkMs = 24 * 3_600_000;
