import type { Runtime } from '#server/database/runtime.ts';
import type { AppError } from '#server/platform/app-error.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findLiveSessions, type LiveAccountSessionRow } from './session-store.ts';

/** 32 bytes in base64url. */
const sessionTokenPattern = /^[\w-]{43}$/;

/** Tokens that were valid at their last look-up, in this process; beyond this number the oldest is evicted. */
const validTokensMax = 10_000;

/**
 * Looks up the session of a token. Each request does so, and the end of a session therefore holds on every process.
 * CredentialLookup bounds the cost of wrong tokens.
 */
export class AccountSessionLookup {
  readonly #lookup: CredentialLookup<LiveAccountSessionRow>;
  /** Look-ups of these are not delayed by the wrong tokens of their client network. */
  readonly #valid = new Set<string>();

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      rateLimits: config.rateLimits,
      find: (hashes) => findLiveSessions(database.pool, hashes, clock.expiryNow()),
      startsAnew: true,
    });
  }

  /** @returns undefined where there is none; a malformed token never reaches the database */
  async find(token: string, ip: string): Promise<LiveAccountSessionRow | undefined> {
    if (!sessionTokenPattern.test(token)) return undefined;
    const session = await this.#lookup.find(token, this.#valid.has(token) ? undefined : ip);
    this.#valid.delete(token);
    if (session) this.#remember(token);
    return session;
  }

  /** Counts a refusal for the client's network. @returns 429 past its limit */
  refuse(ip: string): AppError | undefined {
    return this.#lookup.countRefusal(ip) ? undefined : this.#lookup.tooManyRefusals();
  }

  #remember(token: string): void {
    const [oldest] = this.#valid;
    if (oldest !== undefined && this.#valid.size >= validTokensMax) this.#valid.delete(oldest);
    this.#valid.add(token);
  }
}
