import type { FastifyRequest } from 'fastify';
import type { Config } from '#server/config.ts';

/** How long a browser keeps a cookie of ours, the longest that browsers allow. What it is worth, the server decides. */
export const cookieDays = 400;
const cookieSeconds = cookieDays * 86_400;

/**
 * A cookie that no script reads. On https its name binds it to this very host and to Secure; a browser takes neither on a
 * plain http address, which is what a first start serves on this machine.
 */
export class HostCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor({ appUrl }: Pick<Config, 'appUrl'>, name: string) {
    const isHttps = appUrl.startsWith('https:');
    this.#name = isHttps ? `__Host-${name}` : name;
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** What a request carries; undefined where it carries none. */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const found = pairs.find((pair) => pair.startsWith(`${this.#name}=`));
    return found?.slice(this.#name.length + 1) || undefined;
  }

  /** The header that gives it to a browser. */
  set(value: string, keptSeconds = cookieSeconds): string {
    return `${this.#name}=${value}${this.#attributes}; Max-Age=${keptSeconds}`;
  }

  /** The header that takes it away. */
  clear(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}
