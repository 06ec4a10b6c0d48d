import type { Config } from '#server/platform/config.ts';
import { HostCookie } from './host-cookie.ts';

/** The session cookie; its value is the token of an account session. */
export class SessionCookie extends HostCookie {
  constructor(config: Pick<Config, 'appUrl'>) {
    super(config, 'ownline');
  }
}
