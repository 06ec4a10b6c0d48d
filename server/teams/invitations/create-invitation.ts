import type { MadeInvitation } from '#contract/member.ts';
import type { GivenRole } from '#contract/permissions.ts';
import { normalizeEmail } from '#server/accounts/account/email.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type InvitationId, publicId } from '#server/platform/ids/ids.ts';
import { mailKeyChange } from '#server/teams/members/mail-key-change.ts';
import type { MemberProfileRow } from '#server/teams/members/member-store.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import { newInvitationLink } from './invitation-link.ts';
import { type InvitationRow, insertInvitation } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';
import { type InvitationMailServices, mailInvitation, needsShownLink } from './mail-invitation.ts';

export type InvitationServices = Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> &
  InvitationMailServices;

interface NewInvitation {
  readonly team: TeamRow;
  readonly email: string;
  readonly role: GivenRole;
  /** The member who invites; undefined for an API key. */
  readonly inviter: MemberProfileRow | undefined;
  readonly by: AuditActor;
  /** The invitation that this one replaces, if one is sent again. */
  readonly replaces?: InvitationId;
}

/**
 * Creates an invitation and its link, mails the link, and tells the owners if an API key invites. The caller has locked
 * the team's row, has checked seat and permission, and has ended other invitations of the address.
 * @returns the invitation, with its link if a person has to pass it on; an API key never gets the link
 * @throws AppError 429 for too many mails or too many invitations by API keys
 */
export async function createInvitation(
  trx: Transaction,
  services: InvitationServices,
  { team, email, role, inviter, by, replaces }: NewInvitation,
): Promise<MadeInvitation> {
  const now = services.clock.now();
  const { url, tokenHash, expiresAt } = newInvitationLink(services, now);
  const isShown = by.kind !== 'key' && (await needsShownLink(trx, services));
  const invitation: InvitationRow = {
    team_id: team.id,
    id: services.ids.next('inv'),
    email,
    normalized_email: normalizeEmail(email),
    role,
    invited_by: inviter?.id ?? null,
    verifies_email: !isShown,
    created_at: now,
    expires_at: expiresAt,
  };
  await insertInvitation(trx, invitation, tokenHash);
  await recordAudit(trx, services, {
    by,
    action: replaces === undefined ? 'invitation.made' : 'invitation.sent_again',
    teamId: team.id,
    target: publicId('inv', invitation.id),
    details: { email, role, ...(replaces === undefined ? {} : { replaces: publicId('inv', replaces) }) },
  });
  await mailInvitation(trx, services, { to: email, invitation, team, inviter, url });
  const deed = `invited ${email}${replaces === undefined ? '' : ' again'} as ${role}`;
  await mailKeyChange(trx, services, team, by, deed);
  return { ...invitationView(invitation), ...(isShown ? { accept_url: url } : {}) };
}
