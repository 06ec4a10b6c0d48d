import type { MadeInvitation } from '#contract/member.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type InvitationId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { createInvitation, type InvitationServices } from './create-invitation.ts';
import { markInvitationRevoked } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';

/**
 * Sends a live invitation again: a new invitation for the same address and role replaces it (specification section
 * 4.1). The new one has its own id, a new link and 7 days. It takes over the seat.
 * @throws AppError 404 if no live invitation has this id; 429 for too many mails
 */
export async function resendInvitation(
  services: InvitationServices,
  teamId: TeamId,
  invitationId: InvitationId,
  by: AuditActor,
): Promise<MadeInvitation> {
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team, inviter) => {
    const ended = await markInvitationRevoked(trx, teamId, invitationId, services.clock.expiryNow());
    if (!ended) throw notFound('invitation');
    await cancelMails(trx, services, publicId('inv', invitationId));
    const { email, role } = invitationView(ended);
    return createInvitation(trx, services, { team, email, role, inviter, by, replaces: invitationId });
  });
}
