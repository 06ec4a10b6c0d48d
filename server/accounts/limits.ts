/* Limits and periods of accounts (specification sections 12.1 to 12.3). */

/** Lifetime of a magic link that the operator creates (specification section 12.2). */
export const operatorLinkHours = 24;

export const mailedLinkHours = 0.5;

/** Limits per hour: magic links that are mailed to one address, and requests for links from one client network. */
export const magicLinksPerAddressAndHour = 5;

export const magicLinkRequestsPerNetworkAndHour = 60;

export const loginWindowMs = 900_000;

/** Failed passwords per window; browsers with a device cookie count apart (specification section 12.2). */
export const loginFailuresMax = {
  perEmailAndNetwork: 10,
  perNetwork: 50,
  perEmail: 100,
  perBrowser: 10,
  perEmailFromKnownBrowsers: 100,
} as const;

export const passwordMinCharacters = 12;

export const passwordMaxCharacters = 200;

/** Password hashes that run at once: each takes 19 MiB and a core, and more would slow down sends. */
export const passwordHashesInFlightMax = 2;

/** Age up to which a sign-in counts as recent (reauthentication.ts). */
export const recentSignInMs = 900_000;

/** Requests per minute of one session; far more than a page sends. */
export const sessionRequestsPerMinute = 600;

/**
 * Days without a request after which a session ends (specification section 12.2). The browser keeps the session's
 * cookie longer: otherwise people who come every day would be signed out 30 days after the sign-in.
 */
export const sessionIdleDays = 30;

/** Upper bound on the passkeys of an account, larger than the number of devices of a person. */
export const passkeysPerAccountMax = 50;

/** Time-out of a WebAuthn ceremony, from the options to the browser's answer. */
export const passkeyChallengeMs = 300_000;
