import type { FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, tooManyRequests } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import { MinuteLimit } from '#server/platform/minute-limit.ts';
import { isWellFormedKey } from './api-key.ts';
import { findLiveKey, type LiveKeyRow } from './api-key-store.ts';
import type { KeyUses } from './key-uses.ts';

/**
 * How long a key is believed without asking again: a revoked one stops working within this time on every process,
 * and no process has to be told (specification section 5.1).
 */
const believedMs = 1_000;
const cacheMax = 10_000;

interface Known {
  readonly row: Promise<LiveKeyRow | undefined>;
  readonly until: number;
}

/** Refused keys that one address may try in a minute before it is told to wait: no list of keys is worth trying. */
const refusedPerMinute = 60;

/** Who holds the key of a request: 401 where it is missing or not valid, 429 where one address tries many. */
export function createAuthenticate({
  database,
  clock,
  config,
  uses,
}: Pick<Runtime, 'database' | 'clock' | 'config'> & { readonly uses: KeyUses }) {
  const refused = new MinuteLimit(clock, refusedPerMinute);
  const cache = new Map<string, Known>();

  /** Requests with the same key share one look; a look that failed is not kept. */
  const look = (key: string): Promise<LiveKeyRow | undefined> => {
    const nowMs = clock.elapsedMs();
    const known = cache.get(key);
    if (known && known.until > nowMs) return known.row;
    if (cache.size >= cacheMax) cache.clear();
    const row = findLiveKey(database.hot, sha256(key));
    cache.set(key, { row, until: nowMs + believedMs });
    row.catch(() => cache.delete(key));
    return row;
  };

  /** A good key from the same address goes on working: only refusals are counted and held back. */
  const refuse = (request: FastifyRequest, message: string): AppError => {
    if (!config.rateLimits || refused.allows(request.ip)) return new AppError('unauthorized', message);
    return tooManyRequests(60 - Math.floor((clock.nowMs() / 1_000) % 60));
  };

  return async (request: FastifyRequest): Promise<Principal> => {
    const key = request.headers['x-api-key'];
    if (key === undefined || key === '') throw refuse(request, 'Send your API key in the header x-api-key.');
    const row = typeof key === 'string' && isWellFormedKey(key) ? await look(key) : undefined;
    if (!row) throw refuse(request, 'This API key is not valid: mistyped, revoked or of another server.');
    uses.note(row.id);
    return {
      teamId: row.team_id,
      actor: { kind: 'key', id: publicId('key', row.id), name: row.name },
      permissions: row.permissions,
      plan: row.plan,
    };
  };
}
