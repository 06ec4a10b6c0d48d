import type { FastifyRequest } from 'fastify';
import { allows, type Grant, permissions } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { throwNothingStored } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Authenticator, Principal } from '#server/http/route.ts';
import { AppError, forbidden } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { LatestTimes } from '#server/platform/concurrency/latest-times.ts';
import { type KeyId, publicId, type TeamId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { findLiveKeys, isWellFormedKey, type LiveKeyRow, writeKeyUses } from './api-keys.ts';

/** Collects the time of each key's last use in this process. */
export type LastUsedTimes = LatestTimes<KeyId>;

export function createLastUsedTimes({ database }: Runtime): LastUsedTimes {
  return new LatestTimes((keyIds, usedAt) => writeKeyUses(database.pool, { keyIds, usedAt }));
}

/** Time for which a process trusts a cached key. Within this time a revoked key stops working on every process. */
const keyCacheMs = 1_000;

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
class ApiKeyLookup {
  readonly #clock: Runtime['clock'];
  readonly #lookup: CredentialLookup<LiveKeyRow>;
  /** Cached keys by their text, least recently looked up first. */
  readonly #cached = new BoundedMap<string, CachedKey>(cachedKeysMax);

  constructor({ database, clock, config }: Runtime) {
    this.#clock = clock;
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findLiveKeys(database.hot, { hashes }).catch(throwNothingStored),
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
    ...(row.answers_for_team ? { answersForTeam: true } : {}),
  };
}

/** A test key may not change the team: an invitation that it makes would reach a person (decision 0042). */
function withoutTeamWrite(grants: readonly Grant[]): readonly Grant[] {
  return grants.includes('*') ? permissions.filter((permission) => permission !== 'team:write') : grants;
}

type RequireKey = (request: FastifyRequest) => Promise<Principal>;

/**
 * Authenticates a request by its API key (specification section 7.2). A missing or invalid key gets 401, or 429 once
 * the client network is over its limit of refusals. A valid key never gets 429 for wrong keys of its network.
 */
export function createRequireKey(services: Runtime & { readonly uses: LastUsedTimes }): RequireKey {
  const keys = new ApiKeyLookup(services);
  const refuse = ({ ip }: FastifyRequest, message: string): Error =>
    keys.refuse(ip) ?? new AppError('unauthorized', message);

  return async (request) => {
    const text = String(request.headers['x-api-key'] ?? '');
    if (text === '') throw refuse(request, 'Send your API key in the header x-api-key.');
    const found = await keys.find(text, request.ip);
    if (!found)
      throw refuse(
        request,
        'This API key is not valid: it is mistyped, revoked or from another server. Use or create another key.',
      );
    services.uses.record(found.id, services.clock.now());
    return found.principal;
  };
}

/**
 * Authenticator of /v1: 401 for the key, 429 for the rate limit, 403 for a permission (specification section 7.2).
 * @param limit counts a request against the team's rate limit, and returns the rate limit headers or throws 429
 */
export function createApiKeyAuthenticator(
  authenticate: RequireKey,
  limit: (teamId: TeamId, plan: PlanName) => Promise<Readonly<Record<string, string>>>,
): Authenticator {
  return async (request, reply, { permission }, isReauthentication = false) => {
    const principal = await authenticate(request);
    if (!isReauthentication) reply.headers(await limit(principal.teamId, principal.plan));
    if (permission === undefined || allows(principal.permissions, permission)) return { principal };
    const refusal = forbidden(
      `This API key lacks the permission ${permission}. Use or create a key that has it.`,
    );
    return { principal, refusal };
  };
}
