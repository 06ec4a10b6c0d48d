import type { FastifyRequest } from 'fastify';
import { HostCookie } from '#server/accounts/sessions/host-cookie.ts';
import type { Config } from '#server/platform/config.ts';
import type { SignedIn } from '#server/platform/http/route.ts';

/** Lifetime of the cookie: the browser loads the next page right after the form. */
const keptSeconds = 60;

/**
 * Flash cookie: the next page says once that a password was set. The cookie holds the id of the session that set the
 * password, so that no forged link shows the text (specification section 12.2).
 */
export class PasswordSetFlash {
  readonly #cookie: HostCookie;

  constructor(config: Pick<Config, 'appUrl'>) {
    this.#cookie = new HostCookie(config, 'ownline-password-set');
  }

  /** @returns the set-cookie header for the answer to the form */
  set({ sessionId }: SignedIn): string {
    return this.#cookie.set(sessionId, keptSeconds);
  }

  /** @returns the set-cookie header that clears the flash cookie; undefined without a flash cookie of this session */
  consume(request: Pick<FastifyRequest, 'headers'>, { sessionId }: SignedIn): string | undefined {
    return this.#cookie.read(request) === sessionId ? this.#cookie.clear() : undefined;
  }
}
