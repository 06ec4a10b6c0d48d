import type { FastifyRequest } from 'fastify';
import { type PlanName, plans } from '#contract/plans.ts';
import {
  createAccountAuthenticator,
  createSessionlessPageAuthenticator,
  createVisitorAuthenticator,
  type RequireSession,
} from '#server/accounts/sessions/session-authenticator.ts';
import {
  createApiKeyAuthenticator,
  createRequireKey,
  type LastUsedTimes,
} from '#server/api-keys/api-key-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createDeviceAuthenticator } from '#server/devices/device-authenticator.ts';
import type { Audience, Authenticator } from '#server/http/route.ts';
import { isProbeTicket } from '#server/operations/probe-route.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { FixedWindowLimiter, NetworkRateLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { createMemberAuthenticator } from '#server/teams/members/member-authenticator.ts';
import { TeamRateLimiter } from '#server/usage/team-limiter.ts';

/**
 * The rate limit of a team's members, as a multiple of the limit of its keys, because a page sends several requests at
 * once.
 */
const teamMembersRateMultiple = 5;

/* Limits of requests that need no credential (specification section 7.2). */

/** Requests per minute and client network for pages, static content and unknown paths. */
export const publicRequestsPerMinute = 6_000;

/** Requests per minute and client network for forms and operations without a session, such as signing in. */
export const visitorRequestsPerMinute = 120;

type AuthenticatorServices = Runtime & {
  readonly uses: LastUsedTimes;
  readonly requireSession: RequireSession;
};

/**
 * Creates the authenticators by audience. For `operations` only probe tickets are checked; the other routes for
 * operators check METRICS_TOKEN themselves. `notFoundLimiter` limits requests for paths without a route.
 */
export function createAuthenticators(services: AuthenticatorServices) {
  const { config, requireSession } = services;
  const authenticate = createRequireKey(services);
  const accountOf = async (request: FastifyRequest) =>
    request.headers.cookie === undefined
      ? undefined
      : (await ifAuthenticated(() => requireSession(request)))?.accountId;
  const teamOf = async (request: FastifyRequest) =>
    request.headers['x-api-key'] === undefined
      ? undefined
      : (await ifAuthenticated(() => authenticate(request)))?.teamId;
  const openLimiter = new NetworkRateLimiter(
    services,
    publicRequestsPerMinute,
    async (request) => (await teamOf(request)) ?? (await accountOf(request)),
  );
  // Counts requests by account if one is signed in, otherwise by client network; these requests carry no API key.
  const visitorLimiter = new NetworkRateLimiter(services, visitorRequestsPerMinute, accountOf);
  const teamLimiter = new TeamRateLimiter(services);
  const visitor = createVisitorAuthenticator(requireSession, visitorLimiter, services);
  const byAudience: Readonly<Partial<Record<Audience, Authenticator>>> = {
    api: createApiKeyAuthenticator(authenticate, async (teamId, plan) =>
      config.rateLimits ? teamLimiter.take(teamId, plan) : {},
    ),
    team: createMemberAuthenticator({ requireSession, limit: createMembersLimit(services) }, services),
    device: createDeviceAuthenticator(services),
    operations: createOperationsAuthenticator(services, openLimiter),
    account: createAccountAuthenticator(requireSession, services),
    visitor,
    page: createSessionlessPageAuthenticator(visitor, openLimiter),
  };
  return { byAudience, notFoundLimiter: openLimiter };
}

/**
 * Limits the requests of all members of a team together, per minute and process (specification section 12.3). Keys are
 * counted apart, so that pages and integrations never use up each other's requests.
 */
function createMembersLimit(services: Runtime) {
  const limiter = new FixedWindowLimiter(services);
  return (teamId: TeamId, plan: PlanName): void => {
    const perMinute = teamMembersRateMultiple * plans[plan].requestsPerMinute;
    const limit = `the members of a team on the plan ${plan} have ${perMinute} a minute together`;
    limiter.take(teamId, limit, perMinute);
  };
}

/** Runs an authenticator. @returns its result; undefined for a refused request */
async function ifAuthenticated<T>(authenticate: () => Promise<T>): Promise<T | undefined> {
  try {
    return await authenticate();
  } catch {
    return undefined;
  }
}

/** Authenticator of `operations`: answers 404, before the body is read, to a request without a valid ticket. */
function createOperationsAuthenticator(
  { secrets, clock }: Runtime,
  limiter: NetworkRateLimiter,
): Authenticator {
  return async (request, _reply, { admission }) => {
    if (!admission?.ownToken) return {};
    const { ticket } = request.params as { readonly ticket: string };
    if (isProbeTicket(secrets, ticket, clock.nowMs())) return {};
    await limiter.take(request);
    throw notFound('probe');
  };
}
