import { lockAccount } from '#server/accounts/account/account.ts';
import { endSessions } from '#server/accounts/sessions/session.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { requireAnotherOwner } from './change-role.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { findMember, listMemberships, type MemberProfileRow, markRemoved, runTeamChange } from './members.ts';

interface MembershipEnd {
  readonly member: MemberProfileRow;
  readonly action: 'member.removed' | 'member.left';
  readonly revokeKeys: boolean;
  readonly by: AuditActor;
}

/**
 * Ends a membership. An account without another team is signed out everywhere. The
 * account's row is locked, so that the later of two concurrent removals sees the earlier one. The caller has locked the
 * team's row and has checked the permission.
 */
async function endMembership(trx: Transaction, services: Runtime, ending: MembershipEnd): Promise<void> {
  const { member, action, revokeKeys, by } = ending;
  const { team_id: teamId, id: memberId, account_id: accountId } = member;
  await lockAccount(trx, { accountId });
  await markRemoved(trx, { teamId, memberId, now: services.clock.now() });
  await recordAudit(trx, services, {
    by,
    action,
    teamId,
    accountId,
    target: publicId('usr', memberId),
    details: { email: member.email, role: member.role, revoke_keys: revokeKeys },
  });
  await runHooks(trx, services, 'memberRemoved', { teamId, memberId, revokeKeys, by });
  if ((await listMemberships(trx, { accountId })).length > 0) return;
  const ended = await endSessions(trx, { accountId, exceptId: null });
  if (ended > 0) await recordAudit(trx, services, { by, action: 'account.signed_out_everywhere', accountId });
}

/**
 * Removes a member from a team (specification section 4.1). The removal takes effect with the member's next request.
 * Owners get a mail if an API key removes the member.
 * @throws AppError 404 for an unknown member; 400, param id, for an owner; 429 for too many changes by API keys
 */
export async function removeMember(
  services: Runtime,
  teamId: TeamId,
  memberId: MemberId,
  { revokeKeys, by }: Pick<MembershipEnd, 'revokeKeys' | 'by'>,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    const member = await findMember(trx, { teamId, memberId });
    if (!member) throw notFound('member');
    if (member.role === 'owner') {
      throw invalid(
        'id',
        'This member is an owner, and owners can’t be removed. First ask an owner to change their role in the dashboard.',
      );
    }
    await mailKeyChange(trx, services, team, by, `removed ${member.name} (${member.email})`);
    await endMembership(trx, services, { member, action: 'member.removed', revokeKeys, by });
  });
}

/**
 * Ends the caller's own membership. API keys that the member created stay, because they belong to the team, unless the
 * caller asks to revoke them.
 * @throws AppError 404 for a former member; 409 for the last owner
 */
export async function leaveTeam(
  services: Runtime,
  teamId: TeamId,
  { revokeKeys, by }: Pick<MembershipEnd, 'revokeKeys' | 'by'>,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: undefined }, async (trx, _team, member) => {
    if (!member) throw notFound('member');
    if (member.role === 'owner') await requireAnotherOwner(trx, teamId);
    await endMembership(trx, services, { member, action: 'member.left', revokeKeys, by });
  });
}
