import type { FastifyRequest } from 'fastify';
import { HostCookie } from '#server/accounts/sessions/host-cookie.ts';
import type { Config } from '#server/platform/config.ts';
import type { SignedIn } from '#server/platform/http/route.ts';

/** The page follows right after the form. */
const keptSeconds = 60;

/**
 * Flash cookie: the next page shows once that a password was set. The cookie names the session that set it, so that no
 * link can make a page show it (specification section 12.2).
 */
export class PasswordSetFlash {
  readonly #cookie: HostCookie;

  constructor(config: Pick<Config, 'appUrl'>) {
    this.#cookie = new HostCookie(config, 'ownline-password-set');
  }

  /** The set-cookie header of the answer to the form. */
  set({ sessionId }: SignedIn): string {
    return this.#cookie.set(sessionId, keptSeconds);
  }

  /** @returns the set-cookie header that ends the notice, for the page that shows it; undefined without a notice */
  consume(request: Pick<FastifyRequest, 'headers'>, { sessionId }: SignedIn): string | undefined {
    return this.#cookie.read(request) === sessionId ? this.#cookie.clear() : undefined;
  }
}
