import type { FastifyRequest } from 'fastify';
import type { Config } from '#server/platform/config.ts';

/** Lifetime of a cookie in the browser, the longest that browsers allow; the server decides when a value expires. */
export const cookieDays = 400;
const cookieSeconds = cookieDays * 86_400;

/**
 * A cookie that scripts can't read. On https the prefix `__Host-` binds it to this host and to Secure. On plain http,
 * as with APP_URL on localhost, browsers refuse both, so the cookie has neither.
 */
export class HostCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor({ appUrl }: Pick<Config, 'appUrl'>, name: string) {
    const isHttps = appUrl.startsWith('https:');
    this.#name = isHttps ? `__Host-${name}` : name;
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** @returns the value of this cookie in a request; undefined if the request does not have it */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    const { cookie = '' } = headers;
    const name = `${this.#name}=`;
    // The header is searched for the name, not split, because 16 KB can hold thousands of cookies.
    for (let start = cookie.indexOf(name); start >= 0; start = cookie.indexOf(name, start + 1)) {
      const before = cookie.slice(0, start).trimEnd();
      if (before !== '' && !before.endsWith(';')) continue;
      return (
        cookie
          .slice(start + name.length)
          .split(';', 1)[0]
          ?.trim() || undefined
      );
    }
    return undefined;
  }

  /** @returns the set-cookie header with this value */
  set(value: string): string {
    return `${this.#name}=${value}${this.#attributes}; Max-Age=${cookieSeconds}`;
  }

  /** @returns the set-cookie header that clears the cookie */
  clear(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}
