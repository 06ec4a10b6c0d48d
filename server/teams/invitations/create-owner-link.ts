import { normalizeEmail } from '#server/accounts/account/email.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import { newInvitationLink } from './invitation-link.ts';
import { insertInvitation } from './invitation-store.ts';
import { revokeSupersededInvitations } from './revoke-superseded-invitations.ts';
import { countSeats, requireFreeSeat } from './seat-limit.ts';

/** Advice in the error for a full team without an owner. */
export const freeSeatAdvice =
  'Free a seat with DELETE /v1/team/members/:id or /v1/team/invitations/:id, use `ownline team set-plan`';

interface OwnerLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * Creates an owner link, which makes the owner of a team without one (specification section 12.1). It replaces earlier
 * owner links. The caller has locked the team's row, or has just inserted it.
 * @param email undefined for a link that any holder may accept
 * @throws AppError 402 where the plan has no free seat
 */
export async function createOwnerLink(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock' | 'config'>,
  team: TeamRow,
  email: string | undefined,
  by: AuditActor,
): Promise<OwnerLink> {
  const teamId = team.id;
  const now = services.clock.now();
  const key = email === undefined ? null : normalizeEmail(email);
  await revokeSupersededInvitations(trx, services, teamId, { emailKey: key, ownerLinks: true }, by);
  requireFreeSeat(team, await countSeats(trx, services, teamId), services.config, freeSeatAdvice);
  const { url, tokenHash, expiresAt } = newInvitationLink(services, now);
  const id = services.ids.next('inv');
  const invitation = {
    team_id: teamId,
    id,
    email: email ?? null,
    normalized_email: key,
    role: 'owner',
    invited_by: null,
    // The operator passes the link only to the person with this address, so that opening it verifies the address.
    verifies_email: true,
    created_at: now,
    expires_at: expiresAt,
  } as const;
  await insertInvitation(trx, invitation, tokenHash);
  await recordAudit(trx, services, {
    by,
    action: 'invitation.made',
    teamId,
    target: publicId('inv', id),
    details: { email: email ?? '', role: 'owner' },
  });
  return { url, expiresAt };
}
