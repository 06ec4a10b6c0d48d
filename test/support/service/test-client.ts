import type { Grant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { createKey } from '#server/api-keys/api-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { ensureTestTeam } from '#server/teams/team/team.ts';
import { ApiClient } from './api-client.ts';
import type { TestService, TestTeam } from './test-service.ts';

/** A client with a new test key of a team; by default of a new team. */
export async function newTestClient(
  service: Pick<TestService, 'baseUrl' | 'runtime' | 'newTeam'>,
  { plan = 'enterprise', grants = ['*'], team }: { plan?: PlanName; grants?: Grant[]; team?: TestTeam } = {},
) {
  const { runtime } = service;
  const owner = team ?? (await service.newTeam({ plan }));
  const made = await runtime.database.transaction(async (trx) => {
    const testTeamId = await ensureTestTeam(trx, runtime, owner.id);
    return createKey(trx, runtime, {
      teamId: owner.id,
      testTeamId,
      name: 'CI',
      permissions: grants,
      by: operator,
    });
  });
  return { api: new ApiClient(service.baseUrl, made.key), key: made.key, team: owner };
}
