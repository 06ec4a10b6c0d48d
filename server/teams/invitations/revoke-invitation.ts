import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type InvitationId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { markInvitationRevoked } from './invitation-store.ts';

/** Revokes a live invitation and its link (specification section 3.5). @throws AppError 404 */
export async function revokeInvitation(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  teamId: TeamId,
  invitationId: InvitationId,
  by: AuditActor,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx) => {
    const revoked = await markInvitationRevoked(trx, teamId, invitationId, services.clock.expiryNow());
    if (!revoked) throw notFound('invitation');
    const target = publicId('inv', invitationId);
    await cancelMails(trx, services, target);
    await recordAudit(trx, services, { by, action: 'invitation.revoked', teamId, target });
  });
}
