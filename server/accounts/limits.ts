/*
 * Limits and periods of accounts (specification sections 12.1 to 12.3).
 */

/** How long a link that the operator made works, and one that is mailed (specification section 12.2). */
export const operatorLinkHours = 24;

export const mailedLinkHours = 0.5;

/** In an hour: links that are mailed to one address, and requests for links that one client network may make. */
export const magicLinksPerAddressAndHour = 5;

export const magicLinkRequestsPerNetworkAndHour = 60;

/** How long failed passwords are counted together. */
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

/** Each one takes 19 MiB and a core: more at a time would take the machine from those who send messages. */
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

/** How long a browser may take, from the options to the answer. */
export const passkeyChallengeMs = 300_000;
