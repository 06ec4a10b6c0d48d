import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { AccountRow } from '#server/accounts/account/account.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Config } from '#server/platform/config.ts';

/** Lifetime of a cookie in the browser, the longest that browsers allow; the server decides when a value expires. */
const cookieDays = 400;
const cookieSeconds = cookieDays * 86_400;

/**
 * A cookie that scripts can't read. On https the prefix `__Host-` binds it to this host and to Secure. On plain http,
 * as with APP_URL on localhost, browsers refuse both, so the cookie has neither.
 */
class HostCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor({ appUrl }: Config, name: string) {
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

/** The session cookie; its value is the token of an account session. */
export function sessionCookie(config: Config): HostCookie {
  return new HostCookie(config, 'ownline');
}

const purpose = 'known browser';

/**
 * Device cookie (OWASP): marks a browser that signed in to an account before. Failed passwords of such a browser are
 * counted apart, so that strangers on the same client network can't lock that browser out (specification section 12.2).
 * The cookie is no credential: a thief only gets the password attempts of one more client network. The cookie's value
 * is sealed with the secrets key, and not stored on the server.
 */
export class DeviceCookie {
  readonly #services: Runtime;
  readonly #cookie: HostCookie;

  constructor(services: Runtime) {
    this.#services = services;
    this.#cookie = new HostCookie(services.config, 'ownline-known');
  }

  /** @returns the set-cookie header that marks the browser for this account, in place of an earlier account */
  set({ id }: Pick<AccountRow, 'id'>): string {
    const { secrets, clock } = this.#services;
    const browser = randomBytes(16).toString('base64url');
    return this.#cookie.set(secrets.seal(purpose, `${id} ${clock.nowMs()} ${browser}`).toString('base64url'));
  }

  /**
   * Reads the device cookie of a request. @returns a random id of the browser; undefined if the cookie is missing,
   * expired, revoked or another account's
   */
  find(
    request: Pick<FastifyRequest, 'headers'>,
    account: Pick<AccountRow, 'id' | 'device_cookies_valid_from'>,
  ): string | undefined {
    const [accountId, setMs, browser] = this.#open(this.#cookie.read(request)).split(' ');
    const { device_cookies_valid_from: since } = account;
    const oldestMs = Math.max(
      since?.getTime() ?? 0,
      this.#services.clock.expiryNow().getTime() - cookieDays * 86_400_000,
    );
    return accountId === account.id && Number(setMs) >= oldestMs ? browser : undefined;
  }

  /** Opens the cookie's value. @returns '' for a value that this server did not seal */
  #open(sealed: string | undefined): string {
    if (sealed === undefined) return '';
    try {
      return this.#services.secrets.open(purpose, Buffer.from(sealed, 'base64url'));
    } catch {
      return '';
    }
  }
}
