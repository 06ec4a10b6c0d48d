import type { FastifyRequest } from 'fastify';
import { allows } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, forbidden } from '#server/platform/app-error.ts';
import type { Authenticator, Principal } from '#server/platform/http/route.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { ApiKeyLookup } from './api-key-lookup.ts';
import type { LastUsedTimes } from './last-used-times.ts';

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
    services.uses.record(found.id);
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
