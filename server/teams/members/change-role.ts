import type { GivenRole, Role } from '#contract/permissions.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { countOwners, findMember, type MemberProfileRow, runTeamChange, setRole } from './members.ts';

/**
 * Sets a member's role and records it in the audit log; if the member has the role already, nothing happens. The caller
 * has locked the team's row and has checked the permission.
 */
export async function applyRole(
  trx: Transaction,
  services: Runtime,
  member: MemberProfileRow,
  role: Role,
  by: AuditActor,
): Promise<MemberProfileRow> {
  if (member.role === role) return member;
  const { team_id: teamId, id: memberId, account_id: accountId } = member;
  await setRole(trx, { teamId, memberId, role });
  await recordAudit(trx, services, {
    by,
    action: 'member.role_changed',
    teamId,
    accountId,
    target: publicId('usr', memberId),
    details: { role, before: member.role },
  });
  await runHooks(trx, services, 'roleChanged', { teamId, memberId, role, by });
  return { ...member, role };
}

/**
 * Refuses to end the last ownership of a team. The caller has locked the team's row, so that of the last two owners
 * only one can leave.
 * @throws AppError 409
 */
export async function requireAnotherOwner(trx: Transaction, teamId: TeamId): Promise<void> {
  if ((await countOwners(trx, { teamId })) > 1) return;
  throw conflict('A team needs an owner, and this is the last one. Make another member an owner first.');
}

/**
 * Gives a member another role than owner (specification section 4.1). API keys that the member created are revoked if
 * they hold more than keys of the new role may. Owners get a mail if an API key changes the role.
 * @param role undefined changes nothing
 * @throws AppError 404 for an unknown member; 400, param id, for an owner; 429 for too many changes by API keys
 */
export async function changeRole(
  services: Runtime,
  teamId: TeamId,
  memberId: MemberId,
  role: GivenRole | undefined,
  by: AuditActor,
): Promise<MemberProfileRow> {
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    const member = await findMember(trx, { teamId, memberId });
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

/** Makes a member an owner; for an owner nothing changes. @throws AppError 404 */
export async function promoteOwner(services: Runtime, teamId: TeamId, memberId: MemberId, by: AuditActor) {
  return runTeamChange(services, { teamId, by, permission: 'owners:manage' }, async (trx) => {
    const member = await findMember(trx, { teamId, memberId });
    if (!member) throw notFound('member');
    return applyRole(trx, services, member, 'owner', by);
  });
}

/**
 * Makes an owner an admin. API keys that the owner created are revoked if they hold more than keys of an admin may.
 * @throws AppError 404 if no owner has this id; 409 for the last owner
 */
export async function demoteOwner(services: Runtime, teamId: TeamId, memberId: MemberId, by: AuditActor) {
  return runTeamChange(services, { teamId, by, permission: 'owners:manage' }, async (trx) => {
    const member = await findMember(trx, { teamId, memberId });
    if (member?.role !== 'owner') throw notFound('owner');
    await requireAnotherOwner(trx, teamId);
    return applyRole(trx, services, member, 'admin', by);
  });
}
