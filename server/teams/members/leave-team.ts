import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { endMembership, type MembershipEnd, type OnMemberRemoved } from './end-membership.ts';
import { requireAnotherOwner } from './require-another-owner.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Ends the caller's own membership (specification section 12.4). API keys that they created stay, because they belong
 * to the team, unless the caller asks to revoke them.
 * @throws AppError 404 for a former member; 409 for the last owner
 */
export async function leaveTeam(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & {
    readonly onMemberRemoved: readonly OnMemberRemoved[];
  },
  teamId: TeamId,
  { revokeKeys, by }: Pick<MembershipEnd, 'revokeKeys' | 'by'>,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: undefined }, async (trx, _team, member) => {
    if (!member) throw notFound('member');
    if (member.role === 'owner') await requireAnotherOwner(trx, teamId);
    await endMembership(trx, services, { member, action: 'member.left', revokeKeys, by });
  });
}
