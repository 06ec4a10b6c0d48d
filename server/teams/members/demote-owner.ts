import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { applyRole, type RoleChangeServices } from './apply-role.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { requireAnotherOwner } from './require-another-owner.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Makes an owner an admin (specification section 12.4). API keys that the owner created are revoked if they hold more
 * than an admin.
 * @throws AppError 404 where no owner has this id; 409 for the last owner
 */
export async function demoteOwner(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & RoleChangeServices,
  teamId: TeamId,
  memberId: MemberId,
  by: AuditActor,
): Promise<MemberProfileRow> {
  return runTeamChange(services, { teamId, by, permission: 'owners:manage' }, async (trx) => {
    const member = await findMember(trx, teamId, memberId);
    if (member?.role !== 'owner') throw notFound('owner');
    await requireAnotherOwner(trx, teamId);
    return applyRole(trx, services, member, 'admin', by);
  });
}
