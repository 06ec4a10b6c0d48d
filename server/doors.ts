import type { FastifyRequest } from 'fastify';
import {
  createAccountDoor,
  createPageDoor,
  createVisitorDoor,
  type Identify,
} from '#server/accounts/doors.ts';
import { createApiDoor } from '#server/api-keys/api-door.ts';
import { createAuthenticate } from '#server/api-keys/authenticate.ts';
import type { KeyUses } from '#server/api-keys/key-uses.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createDeviceDoor } from '#server/devices/device-door.ts';
import type { Audience, Door } from '#server/platform/http/route.ts';
import type { MaybePromise } from '#server/platform/maybe-promise.ts';
import { NetworkLimit } from '#server/platform/network-limit.ts';
import { createTeamDoor } from '#server/teams/team-door.ts';
import { MemberRateLimiter } from '#server/usage/member-rate-limiter.ts';
import { TeamRateLimiter } from '#server/usage/team-rate-limiter.ts';

interface DoorServices extends Runtime {
  readonly uses: KeyUses;
  readonly identify: Identify;
}

/** Pages, static content and addresses with nothing, which one client network may ask for in a minute. */
export const openPerMinute = 6_000;
/** Forms and operations that need no session, such as signing in, likewise. */
export const visitsPerMinute = 120;

interface Doors {
  readonly byAudience: Readonly<Partial<Record<Audience, Door>>>;
  /** For requests that no route serves. */
  readonly unrouted: NetworkLimit;
}

/** Who is let in to what, by audience. Operators have no door: routes of theirs look for themselves. */
export function createDoors(services: DoorServices): Doors {
  const { clock, config, identify } = services;
  const authenticate = createAuthenticate(services);
  const hasCredential = async (request: FastifyRequest) =>
    (request.headers['x-api-key'] !== undefined && (await isAccepted(() => authenticate(request)))) ||
    (request.headers.cookie !== undefined && (await isAccepted(() => identify(request))));
  const limitOf = (perMinute: number) =>
    new NetworkLimit({ clock, rateLimits: config.rateLimits, perMinute, hasCredential });
  const openLimit = limitOf(openPerMinute);
  const teamLimiter = new TeamRateLimiter(services);
  const memberLimiter = new MemberRateLimiter(services.clock);
  const visitor = createVisitorDoor(identify, limitOf(visitsPerMinute), services);
  const byAudience = {
    api: createApiDoor({
      authenticate,
      limit: (teamId, plan) => (config.rateLimits ? teamLimiter.take(teamId, plan) : {}),
    }),
    team: createTeamDoor(
      {
        identify,
        limit: (teamId, plan) => (config.rateLimits ? memberLimiter.take(teamId, plan) : undefined),
      },
      services,
    ),
    device: createDeviceDoor(services),
    account: createAccountDoor(identify, services),
    visitor,
    page: createPageDoor(visitor, openLimit),
  };
  return { byAudience, unrouted: openLimit };
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
