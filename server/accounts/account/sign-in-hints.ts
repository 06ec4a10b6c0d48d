import { isIP } from 'node:net';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import type { Config } from '#server/platform/config.ts';

type Settings = Pick<Config, 'mail' | 'appUrl'>;

/** Text for how a person gets a magic link: by mail, or from the operator if this server sends no mail. */
export function magicLinkHint({ mail }: Pick<Settings, 'mail'>): string {
  return isMailEnabled({ mail }) ? 'a link by mail' : 'a link from the operator of this server';
}

/**
 * Text for the ways to sign in without a password that this server supports. The text is the same for every account.
 */
export function otherSignInHint(config: Settings): string {
  return supportsPasskeys(config.appUrl) ? `a passkey or ${magicLinkHint(config)}` : magicLinkHint(config);
}

/** Whether passkeys work with APP_URL: browsers bind them to a host name, never to an IP address. */
export function supportsPasskeys(appUrl: string): boolean {
  return isIP(new URL(appUrl).hostname.replace(/^\[|\]$/g, '')) === 0;
}
