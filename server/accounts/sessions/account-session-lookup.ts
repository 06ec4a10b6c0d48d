import type { Runtime } from '#server/database/runtime.ts';
import type { AppError } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findLiveSessions, type LiveAccountSessionRow } from './session-store.ts';

/** A session token: 32 bytes in base64url. */
const sessionTokenPattern = /^[\w-]{43}$/;

/** Upper bound on the tokens that a process remembers as valid; beyond it the oldest is evicted. */
const validTokensMax = 10_000;

/**
 * Finds the session of a token. Every request reads the database, so that an ended session is refused by every process
 * at once. CredentialLookup bounds the cost of wrong tokens.
 */
export class AccountSessionLookup {
  readonly #lookup: CredentialLookup<LiveAccountSessionRow>;
  /**
   * Tokens that were valid at their last look-up. Their look-ups are never delayed, even if the same client network
   * sends wrong tokens.
   */
  readonly #valid = new BoundedMap<string, true>(validTokensMax);

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findLiveSessions(database.pool, hashes, clock.expiryNow()),
      sharesLookups: false,
    });
  }

  /** Counts a refused request of the client network. @returns 429 once the network is over its limit */
  refuse(ip: string): AppError | undefined {
    return this.#lookup.refuse(ip);
  }

  /**
   * Finds the session of a token. @returns undefined for an unknown token; a malformed one never reaches the database
   */
  async find(token: string, ip: string): Promise<LiveAccountSessionRow | undefined> {
    if (!sessionTokenPattern.test(token)) return undefined;
    const session = await this.#lookup.find(token, this.#valid.has(token) ? undefined : ip);
    this.#valid.delete(token);
    if (session) this.#valid.set(token, true);
    return session;
  }
}
