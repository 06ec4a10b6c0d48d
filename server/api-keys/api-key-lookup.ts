import { type Grant, permissions } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AppError } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { type KeyId, publicId } from '#server/platform/ids/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { isWellFormedKey } from './api-key.ts';
import { findLiveKeys, type LiveKeyRow } from './api-key-store.ts';

/** Time for which a process trusts a cached key. Within this time a revoked key stops working on every process. */
const keyCacheMs = 1_000;

/** Upper bound on the cached keys of a process; beyond it the oldest is evicted. */
const cachedKeysMax = 10_000;

export interface LiveKey {
  readonly id: KeyId;
  readonly principal: Principal;
}

interface CachedKey {
  readonly row: LiveKeyRow;
  readonly key: LiveKey;
  readonly untilMs: number;
}

/** Cache of valid API keys. Wrong keys are remembered apart (CredentialLookup), so that they never evict valid ones. */
export class ApiKeyLookup {
  readonly #clock: Runtime['clock'];
  readonly #lookup: CredentialLookup<LiveKeyRow>;
  /** Cached keys by their text, least recently looked up first. */
  readonly #cached = new BoundedMap<string, CachedKey>(cachedKeysMax);

  constructor({ database, clock, config }: Runtime) {
    this.#clock = clock;
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findLiveKeys(database.hot, { hashes }),
    });
  }

  /** Counts a refused request of the client network. @returns 429 once the network is over its limit */
  refuse(ip: string): AppError | undefined {
    return this.#lookup.refuse(ip);
  }

  /** Finds a key by its text. @returns undefined for an invalid key; a malformed key never reaches the database */
  async find(text: string, ip: string): Promise<LiveKey | undefined> {
    const cached = this.#cached.get(text);
    if (!cached) return isWellFormedKey(text) ? this.#lookUp(text, ip) : undefined;
    return cached.untilMs > this.#clock.elapsedMs() ? cached.key : this.#lookUp(text, undefined);
  }

  async #lookUp(text: string, ip: string | undefined): Promise<LiveKey | undefined> {
    const untilMs = this.#clock.elapsedMs() + keyCacheMs;
    const row = await this.#lookup.find(text, ip);
    const cached = this.#cached.get(text);
    // Another request that shared this look-up has cached the key already, with an expiry counted from the look-up's
    // start.
    if (row && cached?.row === row) return cached.key;
    this.#cached.delete(text);
    if (!row) return undefined;
    const key = { id: row.id, principal: principalOf(row) };
    this.#cached.set(text, { row, key, untilMs });
    return key;
  }
}

function principalOf(row: LiveKeyRow): Principal {
  const isTest = row.test_team_id !== null;
  return {
    teamId: row.test_team_id ?? row.team_id,
    id: row.id,
    actor: { kind: 'key', id: publicId('key', row.id), name: row.name },
    permissions: isTest ? withoutTeamWrite(row.permissions) : row.permissions,
    plan: row.plan,
    ...(isTest ? { isTest } : {}),
  };
}

/** A test key may not change the team: an invitation that it makes would reach a person (decision 0042). */
function withoutTeamWrite(grants: readonly Grant[]): readonly Grant[] {
  return grants.includes('*') ? permissions.filter((permission) => permission !== 'team:write') : grants;
}
