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
import { createTeamDoor } from '#server/teams/team-door.ts';
import { MemberRequests } from '#server/usage/member-requests.ts';
import { RateLimits } from '#server/usage/rate-limit.ts';

interface DoorServices extends Runtime {
  readonly uses: KeyUses;
  readonly identify: Identify;
}

/** Who is let in to what, by audience. Operators have no door: routes of theirs look for themselves. */
export function createDoors(services: DoorServices): Readonly<Partial<Record<Audience, Door>>> {
  const { config, identify } = services;
  const rateLimits = new RateLimits(services);
  const memberRequests = new MemberRequests(services.clock);
  const visitor = createVisitorDoor(identify, services);
  return {
    api: createApiDoor({
      authenticate: createAuthenticate(services),
      limit: (teamId, plan) => (config.rateLimits ? rateLimits.take(teamId, plan) : {}),
    }),
    team: createTeamDoor(
      {
        identify,
        limit: (teamId, plan) => (config.rateLimits ? memberRequests.take(teamId, plan) : undefined),
      },
      services,
    ),
    device: createDeviceDoor(services),
    account: createAccountDoor(identify, services),
    visitor,
    page: createPageDoor(visitor),
  };
}
