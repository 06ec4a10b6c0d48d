import type { Runtime } from '#server/database/runtime.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { type KeyId, publicId } from '#server/platform/ids/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { isWellFormedKey } from './api-key.ts';
import { findLiveKeys, type LiveKeyRow } from './api-key-store.ts';

/**
 * How long a key is believed without asking again: a revoked one stops working within this time on every process,
 * and no process has to be told (specification section 5.1).
 */
const cacheMs = 1_000;
const keptMax = 10_000;

export interface LiveKey {
  readonly id: KeyId;
  readonly principal: Principal;
}

interface KeptKey {
  readonly row: LiveKeyRow;
  readonly key: LiveKey;
  readonly untilMs: number;
}

/** The valid keys that this process has seen. Wrong ones are kept elsewhere, so that no list of them drives these out. */
export class KeyCache {
  readonly #clock: Runtime['clock'];
  readonly #lookup: CredentialLookup<LiveKeyRow>;
  /** The one that was looked up last is the last. */
  readonly #kept = new Map<string, KeptKey>();

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#clock = clock;
    this.#lookup = new CredentialLookup({
      clock,
      rateLimits: config.rateLimits,
      find: (hashes) => findLiveKeys(database.hot, hashes),
    });
  }

  /** @returns undefined where it is no valid key; one that can be none never reaches the database */
  find(text: string, ip: string): MaybePromise<LiveKey | undefined> {
    const kept = this.#kept.get(text);
    if (!kept) return isWellFormedKey(text) ? this.#look(text, ip) : undefined;
    return kept.untilMs > this.#clock.elapsedMs() ? kept.key : this.#look(text, undefined);
  }

  /** Counts a refusal for the client's network. @returns 429 past its limit */
  refuse(ip: string): Error | undefined {
    return this.#lookup.countRefusal(ip) ? undefined : this.#lookup.tooManyRefusals();
  }

  async #look(text: string, ip: string | undefined): Promise<LiveKey | undefined> {
    const untilMs = this.#clock.elapsedMs() + cacheMs;
    const row = await this.#lookup.find(text, ip);
    const kept = this.#kept.get(text);
    // Of the requests that shared this look-up the first one kept it, from the time at which it began.
    if (row && kept?.row === row) return kept.key;
    this.#kept.delete(text);
    if (!row) return undefined;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= keptMax) this.#kept.delete(oldest);
    const key = { id: row.id, principal: principalOf(row) };
    this.#kept.set(text, { row, key, untilMs });
    return key;
  }
}

function principalOf(row: LiveKeyRow): Principal {
  return {
    teamId: row.team_id,
    actor: { kind: 'key', id: publicId('key', row.id), name: row.name },
    permissions: row.permissions,
    plan: row.plan,
    ...(row.created_by === null ? {} : { keyCreator: row.created_by }),
  };
}
