import type { Runtime } from '#server/database/runtime.ts';
import type { By } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { MemberId, TeamId } from '#server/platform/ids.ts';
import { keepAnOwner } from './keep-an-owner.ts';
import { findMember, type PersonRow } from './member-store.ts';
import { moveRole, type RoleChangeServices } from './move-role.ts';
import { recheckPermission } from './recheck-permission.ts';
import { lockTeam } from './team-store.ts';

/**
 * Takes the role of owner from a member, who is an admin from then on (specification section 12.4). Keys of theirs
 * that hold more than an admin does are revoked.
 * @throws AppError 404 where no owner has this id; 409 for the last one
 */
export async function unmakeOwner(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & RoleChangeServices,
  teamId: TeamId,
  memberId: MemberId,
  by: By,
): Promise<PersonRow> {
  return services.database.transaction(async (trx) => {
    await lockTeam(trx, teamId);
    await recheckPermission(trx, teamId, by, 'owners:manage');
    const member = await findMember(trx, teamId, memberId);
    if (member?.role !== 'owner') throw notFound('owner');
    await keepAnOwner(trx, teamId);
    return moveRole(trx, services, member, 'admin', by);
  });
}
