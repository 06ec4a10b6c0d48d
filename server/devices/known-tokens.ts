import type { Runtime } from '#server/database/runtime.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findKnownTokens } from './device-store.ts';

/** `dev_` and 32 bytes as base64url; any other text is no token (Secrets.deviceToken). */
const shape = /^dev_[\w-]{43}$/;

/** More phones than one process serves. */
const keptMax = 50_000;

/**
 * The device tokens that this process has found in the database. No device is ever deleted, so a token that was found
 * stays known, and a poll costs no look-up of its own. Whether it may still poll is asked by each call anew.
 */
export class KnownTokens {
  readonly #lookup: CredentialLookup<{ readonly hash: Buffer }>;
  /** Hashes by token; the one that was used last is the last. */
  readonly #kept = new Map<string, Buffer>();

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      rateLimits: config.rateLimits,
      find: (hashes) => findKnownTokens(database.hot, hashes),
    });
  }

  /** @returns the token's hash; undefined, and counted for the client's network, where it is not known */
  find(token: unknown, ip: string): MaybePromise<Buffer | undefined> {
    if (typeof token !== 'string' || !shape.test(token)) return this.#refuse(ip);
    const kept = this.#kept.get(token);
    if (!kept) return this.#look(token, ip);
    this.#keep(token, kept);
    return kept;
  }

  async #look(token: string, ip: string): Promise<Buffer | undefined> {
    const row = await this.#lookup.find(token, ip);
    if (!row) return this.#refuse(ip);
    this.#keep(token, row.hash);
    return row.hash;
  }

  #keep(token: string, hash: Buffer): void {
    this.#kept.delete(token);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= keptMax) this.#kept.delete(oldest);
    this.#kept.set(token, hash);
  }

  /** The answer is the same past the limit; what is looked up for the network from then on goes the slow way. */
  #refuse(ip: string): undefined {
    this.#lookup.countRefusal(ip);
    return undefined;
  }
}
