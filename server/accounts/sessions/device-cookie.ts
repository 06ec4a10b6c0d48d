import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { AccountRow } from '#server/accounts/account/account-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { cookieDays, HostCookie } from './host-cookie.ts';

const purpose = 'known browser';

/**
 * Device cookie (OWASP): marks a browser that signed in to an account before. Failed passwords of such a browser are
 * counted apart, so that strangers on the same client network can't lock it out (specification section 12.2). The
 * cookie is no credential: a thief only gets the password attempts of one more client network. The cookie's value is
 * sealed with the secrets key, and not stored on the server.
 */
export class DeviceCookie {
  readonly #services: Pick<Runtime, 'config' | 'clock' | 'secrets'>;
  readonly #cookie: HostCookie;

  constructor(services: Pick<Runtime, 'config' | 'clock' | 'secrets'>) {
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
