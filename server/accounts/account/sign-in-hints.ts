import { isIP } from 'node:net';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import type { Config } from '#server/platform/config.ts';

type Settings = Pick<Config, 'mail' | 'appUrl'>;

/** How somebody comes by a magic link: nobody is told of a mail that this server does not send. */
export function magicLinkHint({ mail }: Pick<Settings, 'mail'>): string {
  return isMailEnabled({ mail }) ? 'a link by mail' : 'a link, for which you ask your administrator';
}

/** What signs in beside a password, as far as this server has it; the same whatever the account has. */
export function otherSignInHint(config: Settings): string {
  return supportsPasskeys(config.appUrl) ? `a passkey or ${magicLinkHint(config)}` : magicLinkHint(config);
}

/** Whether browsers keep passkeys for APP_URL: they bind them to names, and an IP address is none. */
export function supportsPasskeys(appUrl: string): boolean {
  return isIP(new URL(appUrl).hostname.replace(/^\[|\]$/g, '')) === 0;
}
