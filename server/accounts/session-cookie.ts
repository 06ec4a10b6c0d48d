import type { FastifyRequest } from 'fastify';
import type { Config } from '#server/config.ts';

/** How long a browser stays signed in without being used (specification section 12.2). */
export const sessionDays = 30;

/**
 * How long a browser keeps the cookie, the longest that browsers allow. Whether its session lives, the server decides: a
 * cookie that ended 30 days after signing in would sign people out who were here every day.
 */
const cookieDays = 400;

/**
 * The cookie of a session. On https its name binds it to this very host and to Secure; a browser takes neither on a
 * plain http address, which is what a first start serves on this machine.
 */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor({ appUrl }: Pick<Config, 'appUrl'>) {
    const isHttps = appUrl.startsWith('https:');
    this.#name = isHttps ? '__Host-ownline' : 'ownline';
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** The token that a request carries; undefined where it carries none. */
  read(request: FastifyRequest): string | undefined {
    const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const found = pairs.find((pair) => pair.startsWith(`${this.#name}=`));
    return found?.slice(this.#name.length + 1) || undefined;
  }

  /** The header that signs a browser in. */
  set(token: string): string {
    return `${this.#name}=${token}${this.#attributes}; Max-Age=${cookieDays * 86_400}`;
  }

  /** The header that signs it out. */
  clear(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}
