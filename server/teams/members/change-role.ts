import type { GivenRole } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import type { MemberId } from '#server/platform/ids/ids.ts';
import { applyRole, type RoleChangeServices } from './apply-role.ts';
import { forbidGrantToKeyCreator, type Grantor } from './forbid-grant-to-key-creator.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { forbidEscalation } from './role-policy.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Gives a member another role than owner (specification section 4.1). API keys that the member created are revoked if
 * they hold more than the new role.
 * @param role undefined changes nothing
 * @throws AppError 404 for an unknown member; 400, param id, for an owner; 403 for the creator of the calling key; 403,
 * param role, for a role with new permissions that the key lacks
 */
export async function changeRole(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & RoleChangeServices,
  { teamId, permissions, keyCreator }: Grantor,
  memberId: MemberId,
  role: GivenRole | undefined,
  by: AuditActor,
): Promise<MemberProfileRow> {
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx) => {
    const member = await findMember(trx, teamId, memberId);
    if (!member) throw notFound('member');
    if (role === undefined) return member;
    if (member.role === 'owner') {
      throw invalid('id', 'This member is an owner. Ask an owner to change their role in the dashboard.');
    }
    forbidEscalation(permissions, role, member.role);
    await forbidGrantToKeyCreator(trx, teamId, keyCreator, { accountId: member.account_id });
    return applyRole(trx, services, member, role, by);
  });
}
