import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { applyRole, type RoleChangeServices } from './apply-role.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { runTeamChange } from './run-team-change.ts';

/** Makes a member an owner (specification section 12.4); for an owner nothing changes. @throws AppError 404 */
export async function promoteOwner(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & RoleChangeServices,
  teamId: TeamId,
  memberId: MemberId,
  by: AuditActor,
): Promise<MemberProfileRow> {
  return runTeamChange(services, { teamId, by, permission: 'owners:manage' }, async (trx) => {
    const member = await findMember(trx, teamId, memberId);
    if (!member) throw notFound('member');
    return applyRole(trx, services, member, 'owner', by);
  });
}
