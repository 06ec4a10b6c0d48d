import type { FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { type MaybePromise, mapMaybe } from '#server/platform/concurrency/maybe-promise.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { ApiKeyLookup } from './api-key-lookup.ts';
import type { LastUsedTimes } from './last-used-times.ts';

/**
 * Authenticates a request by its API key: 401 where it is missing or not valid, 429 past the limit of refusals of its
 * client network. A valid key is never refused for the wrong ones of its network (specification section 7.2).
 */
export function createRequireKey(
  services: Pick<Runtime, 'database' | 'clock' | 'config'> & { readonly uses: LastUsedTimes },
) {
  const keys = new ApiKeyLookup(services);
  const refuse = ({ ip }: FastifyRequest, message: string): Error =>
    keys.refuse(ip) ?? new AppError('unauthorized', message);

  return (request: FastifyRequest): MaybePromise<Principal> => {
    const text = String(request.headers['x-api-key'] ?? '');
    if (text === '') throw refuse(request, 'Send your API key in the header x-api-key.');
    return mapMaybe(keys.find(text, request.ip), (found) => {
      if (!found) throw refuse(request, 'This API key is not valid: mistyped, revoked or of another server.');
      services.uses.record(found.id);
      return found.principal;
    });
  };
}
