import type { MadeInvitation } from '#contract/member.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type InvitationId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { newInvitationLink } from './invitation-link.ts';
import { findLiveInvitation, renewInvitation } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';
import { type InvitationMailServices, mailInvitation, needsShownLink } from './mail-invitation.ts';

/**
 * Sends a live invitation again, with a new link for 7 days; the old link ends (specification section 12.4).
 * @throws AppError 404 where no live invitation has this id
 */
export async function resendInvitation(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & InvitationMailServices,
  teamId: TeamId,
  invitationId: InvitationId,
  by: AuditActor,
): Promise<MadeInvitation> {
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team, inviter) => {
    const live = await findLiveInvitation(trx, teamId, invitationId, services.clock.expiryNow());
    const { url, tokenHash, expiresAt } = newInvitationLink(services, services.clock.now());
    const isShown = await needsShownLink(trx, services);
    const link = { tokenHash, expiresAt, provesAddress: !isShown };
    const invitation = live && (await renewInvitation(trx, teamId, invitationId, link));
    if (!invitation?.email) throw notFound('invitation');
    const target = publicId('inv', invitationId);
    await cancelMails(trx, services, target);
    await recordAudit(trx, services, { by, action: 'invitation.sent_again', teamId, target });
    await mailInvitation(trx, services, {
      to: invitation.email,
      invitation,
      team,
      inviter,
      url,
    });
    return { ...invitationView(invitation), ...(isShown ? { accept_url: url } : {}) };
  });
}
