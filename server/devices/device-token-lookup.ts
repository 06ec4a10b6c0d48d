import type { Runtime } from '#server/database/runtime.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import type { EndedTokenReason } from '#server/platform/http/route.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findKnownTokens, type KnownTokenRow } from './device-store.ts';

/** `dev_` and 32 bytes as base64url; any other text is no token (Secrets.deviceToken). */
const shape = /^dev_[\w-]{43}$/;

/** More phones than one process serves. */
const keptMax = 50_000;

/** A device token that was given to a phone. */
class KnownToken {
  readonly hash: Buffer;
  readonly teamId: TeamId;
  #ended: EndedTokenReason | undefined;

  constructor({ hash, team_id: teamId, ended }: KnownTokenRow) {
    this.hash = hash;
    this.teamId = teamId;
    this.#ended = ended ?? undefined;
  }

  /** Why it has ended; undefined where this process has not seen that it has. */
  get ended(): EndedTokenReason | undefined {
    return this.#ended;
  }

  /** A token that has ended never becomes valid again. */
  readonly end = (reason: EndedTokenReason): void => {
    this.#ended = reason;
  };
}

/**
 * The device tokens that this process has found in the database. No device is ever deleted, so a known token stays
 * known, and a poll costs no look-up of its own. Each call still checks in the database whether its device may do this.
 * A token that has ended is remembered as such.
 */
export class DeviceTokenLookup {
  readonly #lookup: CredentialLookup<KnownTokenRow>;
  /** By token, in the order of use: the most recently used is the last. */
  readonly #kept = new Map<string, KnownToken>();

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      rateLimits: config.rateLimits,
      find: (hashes) => findKnownTokens(database.hot, hashes),
    });
  }

  /** @returns undefined for an unknown token, which counts as a refusal of the client's network */
  find(token: unknown, ip: string): MaybePromise<KnownToken | undefined> {
    if (typeof token !== 'string' || !shape.test(token)) return this.#refuse(ip);
    const kept = this.#kept.get(token);
    if (!kept) return this.#look(token, ip);
    this.#keep(token, kept);
    return kept;
  }

  async #look(token: string, ip: string): Promise<KnownToken | undefined> {
    const row = await this.#lookup.find(token, ip);
    if (!row) return this.#refuse(ip);
    const known = this.#kept.get(token) ?? new KnownToken(row);
    this.#keep(token, known);
    return known;
  }

  #keep(token: string, known: KnownToken): void {
    this.#kept.delete(token);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= keptMax) this.#kept.delete(oldest);
    this.#kept.set(token, known);
  }

  /** The answer is the same past the limit; further look-ups of this network are delayed. */
  #refuse(ip: string): undefined {
    this.#lookup.countRefusal(ip);
    return undefined;
  }
}
