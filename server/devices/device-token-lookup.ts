import type { Runtime } from '#server/database/runtime.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { EndedTokenReason } from '#server/platform/http/route.ts';
import type { DeviceId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findKnownTokens, type KnownTokenRow } from './device-store.ts';

/** `dev_`, a routing tag and 32 bytes as base64url (Secrets.deviceToken); any other text is not looked up. */
const shape = /^dev_[a-z0-9]{4}[\w-]{43}$/;

/** Upper bound on remembered tokens, more than the phones of one process. */
const keptMax = 50_000;

class KnownToken {
  readonly hash: Buffer;
  readonly teamId: TeamId;
  readonly deviceId: DeviceId;
  readonly numberId: NumberId;
  readonly phoneNumber: string;
  #ended: EndedTokenReason | undefined;

  constructor(row: KnownTokenRow) {
    this.hash = row.hash;
    this.teamId = row.team_id;
    this.deviceId = row.id;
    this.numberId = row.number_id;
    this.phoneNumber = row.phone_number;
    this.#ended = row.ended ?? undefined;
  }

  /** Why the token has ended; undefined if this process has not seen its end. */
  get ended(): EndedTokenReason | undefined {
    return this.#ended;
  }

  /** An ended token never becomes valid again. */
  readonly end = (reason: EndedTokenReason): void => {
    this.#ended = reason;
  };
}

/**
 * Remembers the device tokens that this process found in the database, so that a poll costs no look-up of its own. No
 * device is ever deleted or moved to another number, so a known token stays known. Each call still checks in the database whether its device may
 * make the call.
 */
export class DeviceTokenLookup {
  readonly #lookup: CredentialLookup<KnownTokenRow>;
  /** Known tokens by their text, the most recently used last. */
  readonly #kept = new BoundedMap<string, KnownToken>(keptMax);

  constructor({ database, clock, config }: Runtime) {
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findKnownTokens(database.hot, { hashes }),
    });
  }

  /** Finds a device token. @returns undefined for an unknown token, which is counted against the client's network */
  async find(token: unknown, ip: string): Promise<KnownToken | undefined> {
    if (typeof token !== 'string' || !shape.test(token)) return this.#refuse(ip);
    const kept = this.#kept.get(token);
    if (!kept) return this.#look(token, ip);
    this.#kept.set(token, kept);
    return kept;
  }

  async #look(token: string, ip: string): Promise<KnownToken | undefined> {
    const row = await this.#lookup.find(token, ip);
    if (!row) return this.#refuse(ip);
    const known = this.#kept.get(token) ?? new KnownToken(row);
    this.#kept.set(token, known);
    return known;
  }

  /**
   * Counts a refused token against the client's network. Beyond the limit the answer stays the same, but look-ups from
   * this network are delayed.
   */
  #refuse(ip: string): undefined {
    this.#lookup.refuse(ip);
    return undefined;
  }
}
