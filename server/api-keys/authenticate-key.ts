import type { FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { ApiKeyLookup } from './api-key-lookup.ts';
import type { LastUsedTimes } from './last-used-times.ts';

/**
 * Authenticates a request by its API key (specification section 7.2). A missing or invalid key gets 401, or 429 once
 * the client network is over its limit of refusals. A valid key never gets 429 for wrong keys of its network.
 */
export function createRequireKey(
  services: Pick<Runtime, 'database' | 'clock' | 'config'> & { readonly uses: LastUsedTimes },
) {
  const keys = new ApiKeyLookup(services);
  const refuse = ({ ip }: FastifyRequest, message: string): Error =>
    keys.refuse(ip) ?? new AppError('unauthorized', message);

  return async (request: FastifyRequest): Promise<Principal> => {
    const text = String(request.headers['x-api-key'] ?? '');
    if (text === '') throw refuse(request, 'Send your API key in the header x-api-key.');
    const found = await keys.find(text, request.ip);
    if (!found)
      throw refuse(
        request,
        'This API key is not valid: it is mistyped, revoked or from another server. Use or create another key.',
      );
    services.uses.record(found.id);
    return found.principal;
  };
}
