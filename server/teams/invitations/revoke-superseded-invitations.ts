import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { markSupersededInvitationsRevoked } from './invitation-store.ts';

interface Which {
  /** The normalized address whose invitations end; null for none. */
  readonly emailKey: string | null;
  readonly ownerLinks: boolean;
}

/**
 * Revokes invitations that a newer invitation or a membership replaces. The caller has locked the team's row. An
 * expired invitation takes no seat but blocks its address: it is revoked without an audit entry.
 */
export async function revokeSupersededInvitations(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock'>,
  teamId: TeamId,
  which: Which,
  by: AuditActor,
): Promise<void> {
  const now = services.clock.now();
  const ended = await markSupersededInvitationsRevoked(trx, teamId, which, now);
  for (const invitation of ended) {
    const target = publicId('inv', invitation.id);
    await cancelMails(trx, services, target);
    if (invitation.expires_at <= services.clock.expiryNow()) continue;
    await recordAudit(trx, services, { by, action: 'invitation.revoked', teamId, target });
  }
}
