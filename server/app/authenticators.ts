import type { FastifyRequest } from 'fastify';
import {
  createAccountAuthenticator,
  createPageAuthenticator,
  createVisitorAuthenticator,
  type RequireSession,
} from '#server/accounts/sessions/session-authenticator.ts';
import { createApiKeyAuthenticator } from '#server/api-keys/api-key-authenticator.ts';
import { createAuthenticateKey } from '#server/api-keys/authenticate-key.ts';
import type { LastUsedTimes } from '#server/api-keys/last-used-times.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createDeviceAuthenticator } from '#server/devices/device-authenticator.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import type { Audience, Authenticator } from '#server/platform/http/route.ts';
import { NetworkRateLimiter } from '#server/platform/network/network-rate-limiter.ts';
import { createMemberAuthenticator } from '#server/teams/members/member-authenticator.ts';
import { MemberRateLimiter } from '#server/usage/member-rate-limiter.ts';
import { TeamRateLimiter } from '#server/usage/team-rate-limiter.ts';
import { openRequestsPerMinute, visitorRequestsPerMinute } from './limits.ts';

interface AuthenticatorServices extends Runtime {
  readonly uses: LastUsedTimes;
  readonly requireSession: RequireSession;
}

interface Authenticators {
  readonly byAudience: Readonly<Partial<Record<Audience, Authenticator>>>;
  /** For requests that no route serves. */
  readonly notFoundLimiter: NetworkRateLimiter;
}

/** The authenticators by audience. Routes for operators have none, and check their callers themselves. */
export function createAuthenticators(services: AuthenticatorServices): Authenticators {
  const { clock, config, requireSession } = services;
  const authenticate = createAuthenticateKey(services);
  const hasCredential = async (request: FastifyRequest) =>
    (request.headers['x-api-key'] !== undefined && (await isAccepted(() => authenticate(request)))) ||
    (request.headers.cookie !== undefined && (await isAccepted(() => requireSession(request))));
  const limiterOf = (perMinute: number) =>
    new NetworkRateLimiter({ clock, rateLimits: config.rateLimits, perMinute, hasCredential });
  const openLimiter = limiterOf(openRequestsPerMinute);
  const teamLimiter = new TeamRateLimiter(services);
  const memberLimiter = new MemberRateLimiter(services.clock);
  const visitor = createVisitorAuthenticator(requireSession, limiterOf(visitorRequestsPerMinute), services);
  const byAudience = {
    api: createApiKeyAuthenticator({
      authenticate,
      limit: (teamId, plan) => (config.rateLimits ? teamLimiter.take(teamId, plan) : {}),
    }),
    team: createMemberAuthenticator(
      {
        requireSession,
        limit: (teamId, plan) => (config.rateLimits ? memberLimiter.take(teamId, plan) : undefined),
      },
      services,
    ),
    device: createDeviceAuthenticator(services),
    account: createAccountAuthenticator(requireSession, services),
    visitor,
    page: createPageAuthenticator(visitor, openLimiter),
  };
  return { byAudience, notFoundLimiter: openLimiter };
}

/** Whether an authenticator accepts what it is given: it throws where it does not. */
async function isAccepted(authenticate: () => MaybePromise<unknown>): Promise<boolean> {
  try {
    await authenticate();
    return true;
  } catch {
    return false;
  }
}
