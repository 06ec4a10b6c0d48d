import { createMagicLink } from '#server/accounts/magic-links/magic-link.ts';
import { operator } from '#server/platform/actor.ts';
import { createOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'runtime'>;

/** Makes a magic link, without a mail. @returns its address */
export async function newMagicLink(
  { runtime }: Service,
  account: Parameters<typeof createMagicLink>[2],
  hours = 1,
): Promise<string> {
  const { url } = await runtime.database.transaction((trx) =>
    createMagicLink(trx, runtime, account, { hours }),
  );
  return url;
}

/** Makes the link of a team's owner. @param email undefined for a link without an address @returns its address */
export async function newOwnerLink({ runtime }: Service, team: TestTeam, email?: string): Promise<string> {
  const { url } = await runtime.database.transaction(async (trx) => {
    const row = await lockTeam(trx, { teamId: team.id });
    if (!row) throw new Error('the team does not exist');
    return createOwnerLink(trx, runtime, row, email, operator);
  });
  return url;
}
