import { findAccountByEmail } from '#server/accounts/account/account.ts';
import { fillDemo } from '#server/cli/demo/fill-demo.ts';
import { publicId } from '#server/platform/ids.ts';
import { findDemoTeam } from '#server/teams/team/team.ts';
import { newCookie, Person, TeamMember } from '#test/support/people/people.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export type GivenDemo = Awaited<ReturnType<typeof givenDemo>>;

/** Fills the demo team of a service, and signs its owner in. */
export async function givenDemo(service: TestService) {
  const { pool } = service.runtime.database;
  const filled = await fillDemo(service.runtime);
  const team = await findDemoTeam(pool);
  const account = await findAccountByEmail(pool, filled.email);
  if (!team || !account) throw new Error('the demo was not filled');
  const person = new Person(service.baseUrl, account, await newCookie(service, account));
  const [{ id: memberId = '' } = {}] = await service.query<{ id: string }>(
    'SELECT id FROM members WHERE team_id = $1 AND account_id = $2',
    [team.id, account.id],
  );
  const owner = new TeamMember(person, { publicId: filled.id }, publicId('usr', memberId as never));
  return { filled, teamId: team.id, owner };
}
