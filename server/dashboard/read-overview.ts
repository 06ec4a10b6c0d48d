import type { AccountOverview } from '#contract/account.ts';
import { accountView, findAccount } from '#server/accounts/account/account.ts';
import { findOpenHold } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type AccountId, publicId } from '#server/platform/ids.ts';
import { listMemberships } from '#server/teams/members/members.ts';

/** The account and its teams. @throws AppError 404 if the account was deleted meanwhile */
export async function readOverview({ database }: Runtime, accountId: AccountId): Promise<AccountOverview> {
  const account = await findAccount(database.pool, { accountId });
  if (!account) throw notFound('account');
  const teams = await listMemberships(database.pool, { accountId });
  return {
    account: accountView(account),
    teams: teams.map((team) => ({
      id: publicId('team', team.team_id),
      name: team.team_name,
      role: team.role,
      member_id: publicId('usr', team.member_id),
    })),
    is_held: (await findOpenHold(database.pool)) !== undefined,
  };
}
