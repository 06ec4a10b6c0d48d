import { supportsPasskeys } from '#server/accounts/account/sign-in-hints.ts';
import { AppError } from '#server/platform/app-error.ts';

/** Relying party of WebAuthn: the name and origin that passkeys are bound to. */
export interface RelyingParty {
  /** The host name that passkeys are bound to. */
  readonly id: string;
  /** The origin of the pages that may request them. */
  readonly origin: string;
}

/**
 * The relying party of APP_URL.
 * @throws 400 where it has an address instead of a name: browsers bind passkeys to names
 */
export function relyingParty(appUrl: string): RelyingParty {
  const { hostname, origin } = new URL(appUrl);
  if (!supportsPasskeys(appUrl)) {
    throw new AppError(
      'invalid_request',
      'Passkeys need an APP_URL with a name: browsers bind them to a domain, and an IP address is none. Use a domain, or http://localhost on this machine; until then sign in with a password or a link.',
    );
  }
  return { id: hostname, origin };
}
