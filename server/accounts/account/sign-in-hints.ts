import { isIP } from 'node:net';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import type { Config } from '#server/platform/config.ts';

type Settings = Pick<Config, 'mail' | 'appUrl'>;

/** How a person gets a magic link. The text mentions mail only if this server sends it. */
export function magicLinkHint({ mail }: Pick<Settings, 'mail'>): string {
  return isMailEnabled({ mail }) ? 'a link by mail' : 'a link from the operator of this server';
}

/** Ways to sign in without a password, as far as this server has them. The text is the same for every account. */
export function otherSignInHint(config: Settings): string {
  return supportsPasskeys(config.appUrl) ? `a passkey or ${magicLinkHint(config)}` : magicLinkHint(config);
}

/** Whether passkeys work for APP_URL: browsers bind them to names, and an IP address is none. */
export function supportsPasskeys(appUrl: string): boolean {
  return isIP(new URL(appUrl).hostname.replace(/^\[|\]$/g, '')) === 0;
}
