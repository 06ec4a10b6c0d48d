import type { FastifyRequest } from 'fastify';
import { allows } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { forbidden } from '#server/platform/app-error.ts';
import type { Authenticator, Principal } from '#server/platform/http/route.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

interface Options {
  readonly authenticate: (request: FastifyRequest) => Promise<Principal>;
  /** Counts a request against the team's rate limit. @returns the rate limit headers @throws 429 */
  readonly limit: (teamId: TeamId, plan: PlanName) => Promise<Readonly<Record<string, string>>>;
}

/** Authenticator of /v1: 401 for the key, 429 for the rate limit, 403 for a permission (specification section 7.2). */
export function createApiKeyAuthenticator({ authenticate, limit }: Options): Authenticator {
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
