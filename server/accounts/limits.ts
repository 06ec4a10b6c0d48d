/*
 * Limits and periods of accounts (specification sections 12.1 to 12.3).
 */

/** Lifetimes of an operator's link and of a mailed one (specification section 12.2). */
export const operatorLinkHours = 24;

export const mailedLinkHours = 0.5;

/** Per hour: links mailed to one address, and requests for links from one client network. */
export const magicLinksPerAddressAndHour = 5;

export const magicLinkRequestsPerNetworkAndHour = 60;

/** The window in which failed passwords are counted. */
export const loginWindowMs = 900_000;

/**
 * Failed passwords per window (specification section 12.2); browsers with a device cookie are counted
 * apart from client networks.
 */
export const loginFailuresMax = {
  perEmailAndNetwork: 10,
  perNetwork: 50,
  perEmail: 100,
  perBrowser: 10,
  perEmailFromKnownBrowsers: 100,
} as const;

export const passwordMinCharacters = 12;

export const passwordMaxCharacters = 200;

/** Each hash takes 19 MiB and a core: more at a time would slow down sends. */
export const passwordHashesInFlightMax = 2;

/** A sign-in counts as recent for this long (reauthentication.ts). */
export const recentSignInMs = 900_000;

/** Requests per minute of one session; far more than a page sends. */
export const sessionRequestsPerMinute = 600;

/**
 * How long a browser stays signed in without being used (specification section 12.2). The cookie is kept for longer: if
 * it ended 30 days after the sign-in, people who use it every day would be signed out.
 */
export const sessionIdleDays = 30;

/** More passkeys than a person has devices. */
export const passkeysPerAccountMax = 50;

/** Time-out of a passkey ceremony, from the options to the answer. */
export const passkeyChallengeMs = 300_000;
