import type { MadeInvitation } from '#contract/member.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import type { InvitationId, TeamId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import type { InvitationServices } from './create-invitation.ts';
import { newInvitationLink } from './invitation-link.ts';
import { replaceInvitationToken } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';
import { findMailedInvitations } from './mail-invitation.ts';

/**
 * Makes a new link of a live invitation that was not mailed (specification section 12.4). Its id, its expiry and its
 * seat stay, and the link before ends.
 * @throws AppError 404 if no live invitation has this id; 409 for one that was mailed
 */
export async function makeInvitationLink(
  services: InvitationServices,
  teamId: TeamId,
  invitationId: InvitationId,
  by: AuditActor,
): Promise<MadeInvitation> {
  const { clock } = services;
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx) => {
    const { url, tokenHash } = newInvitationLink(services, clock.now());
    const row = await replaceInvitationToken(trx, teamId, invitationId, clock.expiryNow(), tokenHash);
    if (!row) throw notFound('invitation');
    const invitation = invitationView(row);
    const target = invitation.invitation_id;
    if ((await findMailedInvitations(trx, services, [target])).has(target)) {
      throw conflict(`${invitation.email} gets this invitation by mail. Send it again for a new link.`);
    }
    await cancelMails(trx, services, target);
    const details = { email: invitation.email };
    await recordAudit(trx, services, { by, action: 'invitation.link_made', teamId, target, details });
    return { ...invitation, accept_url: url };
  });
}
