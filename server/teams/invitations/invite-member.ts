import type { InviteRequest, MadeInvitation } from '#contract/member.ts';
import { normalizeEmail, parseEmail } from '#server/accounts/account/email.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { forbidGrantToKeyCreator, type Grantor } from '#server/teams/members/forbid-grant-to-key-creator.ts';
import { findMemberByNormalizedEmail } from '#server/teams/members/member-store.ts';
import { forbidEscalation } from '#server/teams/members/role-policy.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { newInvitationLink } from './invitation-link.ts';
import { findLiveInvitationByEmail, type InvitationRow, insertInvitation } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';
import { type InvitationMailServices, mailInvitation, needsShownLink } from './mail-invitation.ts';
import { revokeSupersededInvitations } from './revoke-superseded-invitations.ts';
import { countSeats, requireFreeSeat } from './seat-limit.ts';

/**
 * Invites an address into a team (specification section 4.1). The team's row is locked from the count to the insert:
 * members and live invitations together never exceed the plan.
 * @throws AppError 400 for the address; 403 for the creator of the calling key; 403, param role, for a role with
 * permissions that the key lacks; 409, param email, for a member or an invited person; 402 where the plan has no free
 * seat
 */
export async function inviteMember(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & InvitationMailServices,
  { teamId, permissions, keyCreator }: Grantor,
  { email: text, role }: InviteRequest,
  by: AuditActor,
): Promise<MadeInvitation> {
  const email = parseEmail(text);
  const key = normalizeEmail(email);
  forbidEscalation(permissions, role);
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team, inviter) => {
    await forbidGrantToKeyCreator(trx, teamId, keyCreator, { emailKey: key });
    const now = services.clock.now();
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
      'Open invitations count, too. Remove a member, revoke an invitation, or ask the operator of this server for a larger plan.',
    );
    // An expired invitation blocks its address until it is revoked.
    await revokeSupersededInvitations(trx, services, teamId, { emailKey: key, ownerLinks: false }, by);
    const { url, tokenHash, expiresAt } = newInvitationLink(services, now);
    const isShown = await needsShownLink(trx, services);
    const invitation: InvitationRow = {
      team_id: teamId,
      id: services.ids.next('inv'),
      email,
      normalized_email: key,
      role,
      invited_by: inviter?.id ?? null,
      verifies_email: !isShown,
      created_at: now,
      expires_at: expiresAt,
    };
    await insertInvitation(trx, invitation, tokenHash);
    await recordAudit(trx, services, {
      by,
      action: 'invitation.made',
      teamId,
      target: publicId('inv', invitation.id),
      details: { email, role },
    });
    await mailInvitation(trx, services, { to: email, invitation, team, inviter, url });
    return { ...invitationView(invitation), ...(isShown ? { accept_url: url } : {}) };
  });
}
