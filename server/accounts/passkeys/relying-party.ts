import { supportsPasskeys } from '#server/accounts/account/sign-in-hints.ts';
import { AppError } from '#server/platform/app-error.ts';

/** Relying party of WebAuthn: the name and origin that passkeys are bound to. */
export interface RelyingParty {
  /** The host name of APP_URL (WebAuthn's RP ID). */
  readonly id: string;
  /** The origin of the pages that may request passkeys. */
  readonly origin: string;
}

/** @throws 400 where APP_URL has an IP address instead of a host name, because browsers bind passkeys to names */
export function relyingParty(appUrl: string): RelyingParty {
  const { hostname, origin } = new URL(appUrl);
  if (!supportsPasskeys(appUrl)) {
    throw new AppError(
      'invalid_request',
      'Passkeys need a domain name in APP_URL: browsers do not bind them to an IP address. Set APP_URL to a domain, or to http://localhost on this machine. Until then sign in with a password or a link.',
    );
  }
  return { id: hostname, origin };
}
