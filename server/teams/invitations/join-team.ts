import type { Role } from '#contract/permissions.ts';
import type { AccountRow } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict } from '#server/platform/app-error.ts';
import { type MemberId, publicId } from '#server/platform/ids.ts';
import { isDemoAddress } from '#server/platform/mail-address.ts';
import { applyRole } from '#server/teams/members/change-role.ts';
import { countMembers, findMemberByAccount, insertMember } from '#server/teams/members/members.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plans.ts';
import { findDemoTeam, type TeamRow } from '#server/teams/team/team.ts';
import { revokeSupersededInvitations } from './create-invitation.ts';

interface Joining {
  readonly account: Pick<AccountRow, 'id' | 'normalized_email'>;
  readonly role: Role;
  readonly by: AuditActor;
}

/**
 * Makes an account a member of a team, or gives an existing member the role. Other invitations of the address are
 * revoked, and with a new owner also the owner links. The caller has locked the team's row.
 *
 * The limit counts members only: after a downgrade, invited people can join until the seats are taken.
 * @throws AppError 402 if the plan has no free seat; 409 if the account belongs to the demo and the team does not
 */
export async function joinTeam(
  trx: Transaction,
  services: Runtime,
  team: TeamRow,
  { account, role, by }: Joining,
): Promise<MemberId> {
  const { normalized_email: address } = account;
  if (isDemoAddress(address) && (await findDemoTeam(trx))?.id !== team.id)
    throw conflict(
      `${address} is an address of the demo, and joins no other team. Sign out, and use your own.`,
    );
  const present = await findMemberByAccount(trx, { teamId: team.id, accountId: account.id });
  const memberId = present?.id ?? services.ids.next('usr');
  if (present) {
    await applyRole(trx, services, present, role, by);
  } else {
    const members = await countMembers(trx, { teamId: team.id });
    requireBelowPlanLimit(services.config, team, 'member', members, 'Ask an owner or an admin to remove one');
    await insertMember(trx, {
      team_id: team.id,
      id: memberId,
      account_id: account.id,
      role,
      created_at: services.clock.now(),
    });
    await recordAudit(trx, services, {
      by,
      action: 'member.joined',
      teamId: team.id,
      accountId: account.id,
      target: publicId('usr', memberId),
      details: { role },
    });
  }
  const which = { emailKey: address, ownerLinks: role === 'owner' };
  await revokeSupersededInvitations(trx, services, team.id, which, by);
  return memberId;
}
