import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Finds the device of a team's test line; undefined until its simulated phone is connected. */
export async function findTestLineDevice({ query }: Pick<TestService, 'query'>, teamId: TeamId) {
  const [row] = await query<{ team_id: TeamId; number_id: NumberId }>(
    `SELECT d.team_id, d.number_id FROM devices d JOIN test_teams t ON t.test_team_id = d.team_id
     WHERE t.team_id = $1`,
    [teamId],
  );
  return row;
}
