import type { FastifyRequest } from 'fastify';
import { allows, type Permission } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { isWellFormedKey } from './api-key.ts';
import { type ApiKeyRow, findLiveKey } from './api-key-store.ts';

/**
 * How long a key is believed without asking again: a revoked one stops working within this time on every process,
 * and no process has to be told (specification section 5.1).
 */
const believedMs = 1_000;
const cacheMax = 10_000;

interface Known {
  readonly row: Promise<ApiKeyRow | undefined>;
  readonly until: number;
}

/** Who holds the key of a request: 401 where it is missing or not valid, 403 where it lacks the permission. */
export function createAuthenticate({ database, clock }: Pick<Runtime, 'database' | 'clock'>) {
  const cache = new Map<string, Known>();

  /** Requests with the same key share one look; a look that failed is not kept. */
  const look = (key: string): Promise<ApiKeyRow | undefined> => {
    const nowMs = clock.nowMs();
    const known = cache.get(key);
    if (known && known.until > nowMs) return known.row;
    if (cache.size >= cacheMax) cache.clear();
    const row = findLiveKey(database.hot, sha256(key));
    cache.set(key, { row, until: nowMs + believedMs });
    row.catch(() => cache.delete(key));
    return row;
  };

  return async (request: FastifyRequest, permission: Permission | undefined): Promise<Principal> => {
    const key = request.headers['x-api-key'];
    if (key === undefined || key === '') {
      throw new AppError('unauthorized', 'Send your API key in the header x-api-key.');
    }
    const row = typeof key === 'string' && isWellFormedKey(key) ? await look(key) : undefined;
    if (!row) {
      throw new AppError(
        'unauthorized',
        'This API key is not valid: mistyped, revoked or of another server.',
      );
    }
    if (permission !== undefined && !allows(row.permissions, permission)) {
      throw new AppError(
        'forbidden',
        `This API key lacks the permission ${permission}. Use or create a key that has it.`,
      );
    }
    return { teamId: row.team_id, keyId: row.id };
  };
}
