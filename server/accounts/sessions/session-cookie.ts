import type { Config } from '#server/platform/config.ts';
import { HostCookie } from './host-cookie.ts';

/** The cookie of a session; its value is the session's token. */
export class SessionCookie extends HostCookie {
  constructor(config: Pick<Config, 'appUrl'>) {
    super(config, 'ownline');
  }
}
