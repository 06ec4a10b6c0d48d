import type { Role } from '#contract/permissions.ts';
import { normalizeEmail } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { type InvitationId, publicId, type TeamId } from '#server/platform/ids.ts';
import type { MemberProfileRow } from '#server/teams/members/members.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plans.ts';
import type { TeamRow } from '#server/teams/team/team.ts';
import {
  countSeats,
  type InvitationRow,
  insertInvitation,
  markSupersededInvitationsRevoked,
  type SupersededInvitations,
} from './invitation-store.ts';

const invitationMs = 7 * 24 * 3_600_000;

export interface NewInvitation {
  readonly team: TeamRow;
  /** null for an owner link that any person may accept. */
  readonly email: string | null;
  readonly role: Role;
  /** The member who invites; undefined for an API key and the operator. */
  readonly inviter?: MemberProfileRow | undefined;
  readonly verifiesEmail: boolean;
  readonly by: AuditActor;
  /** The invitation that this one replaces, if an invitation is sent again. */
  readonly replaces?: InvitationId | undefined;
}

/**
 * Creates an invitation and its link. The caller has locked the team's row, has checked seat and permission, and has
 * ended other invitations of the address.
 */
export async function createInvitation(
  trx: Transaction,
  services: Runtime,
  { team, email, role, inviter, verifiesEmail, by, replaces }: NewInvitation,
): Promise<{ readonly invitation: InvitationRow; readonly url: string }> {
  const now = services.clock.now();
  const { url, tokenHash } = newInvitationLink(services);
  const invitation: InvitationRow = {
    team_id: team.id,
    id: services.ids.next('inv'),
    email,
    normalized_email: email === null ? null : normalizeEmail(email),
    role,
    invited_by: inviter?.id ?? null,
    verifies_email: verifiesEmail,
    created_at: now,
    expires_at: services.clock.in(invitationMs, now),
  };
  await insertInvitation(trx, { ...invitation, token_hash: tokenHash });
  await recordAudit(trx, services, {
    by,
    action: replaces === undefined ? 'invitation.made' : 'invitation.sent_again',
    teamId: team.id,
    target: publicId('inv', invitation.id),
    details: { email: email ?? '', role, ...(replaces && { replaces: publicId('inv', replaces) }) },
  });
  return { invitation, url };
}

/** Creates the link of an invitation. The link begins with APP_URL, and only the hash of its token is stored. */
export function newInvitationLink({ config }: Runtime) {
  const token = randomToken();
  return { url: `${config.appUrl}/invite/${token}`, tokenHash: sha256(token) };
}

/**
 * @param remedy as in `planLimitExceeded` @throws AppError 402 if members and invitations take up all seats of the plan
 */
export async function requireFreeSeat(
  trx: Transaction,
  { config, clock }: Runtime,
  team: TeamRow,
  remedy: string,
): Promise<void> {
  const seats = await countSeats(trx, { teamId: team.id, now: clock.expiryNow() });
  requireBelowPlanLimit(config, team, 'member', seats, remedy);
}

/**
 * Revokes invitations that a newer invitation or a membership replaces. The caller has locked the team's row. An
 * expired invitation takes no seat but blocks its address: it is revoked without an audit entry.
 */
export async function revokeSupersededInvitations(
  trx: Transaction,
  services: Runtime,
  teamId: TeamId,
  which: SupersededInvitations,
  by: AuditActor,
): Promise<void> {
  const ended = await markSupersededInvitationsRevoked(trx, { ...which, teamId, now: services.clock.now() });
  for (const invitation of ended) {
    const target = publicId('inv', invitation.id);
    await cancelMails(trx, services, target);
    if (invitation.expires_at <= services.clock.expiryNow()) continue;
    await recordAudit(trx, services, { by, action: 'invitation.revoked', teamId, target });
  }
}
