import type { InviteRequest, MadeInvitation } from '#contract/member.ts';
import { normalizeEmail, parseEmail } from '#server/accounts/account/email.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { findMemberByNormalizedEmail } from '#server/teams/members/member-store.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { createInvitation, type InvitationServices } from './create-invitation.ts';
import { findLiveInvitationByEmail } from './invitation-store.ts';
import { revokeSupersededInvitations } from './revoke-superseded-invitations.ts';
import { countSeats, requireFreeSeat } from './seat-limit.ts';

/**
 * Invites an address into a team (specification section 4.1). The team's row is locked from the count to the insert:
 * members and live invitations together never exceed the plan.
 * @throws AppError 400 for the address; 409, param email, for a member or an invited person; 402 if the plan has no
 * free seat; 429 for too many mails
 */
export async function inviteMember(
  services: InvitationServices,
  teamId: TeamId,
  { email: text, role }: InviteRequest,
  by: AuditActor,
): Promise<MadeInvitation> {
  const email = parseEmail(text);
  const key = normalizeEmail(email);
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team, inviter) => {
    if (await findMemberByNormalizedEmail(trx, teamId, key)) {
      throw conflict(
        `${email} is a member already. PUT /v1/team/members/:id/role changes what they may do.`,
        'email',
      );
    }
    const live = await findLiveInvitationByEmail(trx, teamId, key, services.clock.expiryNow());
    if (live) {
      const advice =
        live.role === 'owner'
          ? 'The operator of this server made that link.'
          : 'Revoke that invitation to make another one.';
      throw conflict(
        `${email} is invited already, until ${live.expires_at.toISOString()}. ${advice}`,
        'email',
      );
    }
    requireFreeSeat(
      team,
      await countSeats(trx, services, teamId),
      services.config,
      'Remove a member, revoke an invitation',
    );
    // An expired invitation blocks its address until it is revoked.
    await revokeSupersededInvitations(trx, services, teamId, { emailKey: key, ownerLinks: false }, by);
    return createInvitation(trx, services, { team, email, role, inviter, by });
  });
}
