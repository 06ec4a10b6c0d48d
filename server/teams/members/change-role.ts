import type { GivenRole } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import type { MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { applyRole, type RoleChangeServices } from './apply-role.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Gives a member another role than owner (specification section 4.1). API keys that the member created are revoked if
 * they hold more than keys of the new role may. Owners get a mail if an API key changes the role.
 * @param role undefined changes nothing
 * @throws AppError 404 for an unknown member; 400, param id, for an owner; 429 for too many changes by API keys
 */
export async function changeRole(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & RoleChangeServices,
  teamId: TeamId,
  memberId: MemberId,
  role: GivenRole | undefined,
  by: AuditActor,
): Promise<MemberProfileRow> {
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    const member = await findMember(trx, teamId, memberId);
    if (!member) throw notFound('member');
    if (role === undefined) return member;
    if (member.role === 'owner') {
      throw invalid('id', 'This member is an owner. Ask an owner to change their role in the dashboard.');
    }
    if (role === member.role) return member;
    const who = `${member.name} (${member.email})`;
    await mailKeyChange(trx, services, team, by, `gave ${who} the role ${role} instead of ${member.role}`);
    return applyRole(trx, services, member, role, by);
  });
}
