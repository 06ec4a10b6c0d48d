import type { Config } from '#server/platform/config.ts';
import { HostCookie } from './host-cookie.ts';

/**
 * How long a browser stays signed in without being used (specification section 12.2). The cookie is kept for longer: one
 * that ended 30 days after signing in would sign people out who were here every day.
 */
export const sessionDays = 30;

/** The cookie of a session; its value is the session's token. */
export class SessionCookie extends HostCookie {
  constructor(config: Pick<Config, 'appUrl'>) {
    super(config, 'ownline');
  }
}
