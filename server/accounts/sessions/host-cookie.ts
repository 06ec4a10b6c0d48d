import type { FastifyRequest } from 'fastify';
import type { Config } from '#server/platform/config.ts';

/**
 * Lifetime of our cookies in a browser, the longest that browsers allow. The server decides by itself when one expires.
 */
export const cookieDays = 400;
const cookieSeconds = cookieDays * 86_400;

/**
 * A cookie that no script reads. On https its name binds it to this host and to Secure. Browsers refuse both on a plain
 * http address, which is what a first start serves on this machine.
 */
export class HostCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor({ appUrl }: Pick<Config, 'appUrl'>, name: string) {
    const isHttps = appUrl.startsWith('https:');
    this.#name = isHttps ? `__Host-${name}` : name;
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** The value of this cookie in a request; undefined where it has none. */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    const { cookie = '' } = headers;
    const name = `${this.#name}=`;
    // Searched, not split: a header of 16 KB holds thousands of pairs.
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

  /** The set-cookie header that sets it. */
  set(value: string, keptSeconds = cookieSeconds): string {
    return `${this.#name}=${value}${this.#attributes}; Max-Age=${keptSeconds}`;
  }

  /** The set-cookie header that clears it. */
  clear(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}
