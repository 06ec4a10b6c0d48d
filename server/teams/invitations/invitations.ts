import type {
  Invitation,
  InvitationList,
  InviteRequest,
  ListedInvitationList,
  ListInvitationsQuery,
  MadeInvitation,
} from '#contract/member.ts';
import { assignableRoles } from '#contract/permissions.ts';
import { normalizeEmail, parseEmail } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { query, type Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type InvitationId, publicId, type TeamId } from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { mailKeyChange } from '#server/teams/members/mail-key-change.ts';
import { findMemberByNormalizedEmail, runTeamChange } from '#server/teams/members/members.ts';
import {
  createInvitation,
  type NewInvitation,
  newInvitationLink,
  requireFreeSeat,
  revokeSupersededInvitations,
} from './create-invitation.ts';
import {
  findLiveInvitationByEmail,
  type InvitationRow,
  listInvitationRows,
  markInvitationRevoked,
  replaceInvitationToken,
} from './invitation-store.ts';
import {
  findMailedInvitations,
  type InvitationServices,
  mailInvitation,
  needsShownLink,
} from './mail-invitation.ts';

/** Retention of ended invitations (accepted, revoked or expired). It is short, because they name people. */
const endedInvitationRetentionMs = 30 * 24 * 3_600_000;

/** The Invitation object of the API. The API never shows owner links. */
function invitationView(invitation: InvitationRow): Invitation {
  const role = assignableRoles.find((given) => given === invitation.role);
  if (role === undefined || invitation.email === null) throw new Error('the API must not show an owner link');
  return {
    invitation_id: publicId('inv', invitation.id),
    email: invitation.email,
    role,
    expires_at: invitation.expires_at.toISOString(),
  };
}

/**
 * Creates an invitation, mails its link, and tells the owners if an API key invites. The caller has done what
 * `createInvitation` asks for.
 * @returns the invitation, with its link if a person has to pass it on; an API key never gets the link
 * @throws AppError 429 for too many mails or too many invitations by API keys
 */
async function createMailedInvitation(
  trx: Transaction,
  services: InvitationServices,
  input: Omit<NewInvitation, 'verifiesEmail'> & { readonly email: string },
): Promise<MadeInvitation> {
  const { team, email, role, inviter, by, replaces } = input;
  const isShown = by.kind !== 'key' && (await needsShownLink(trx, services));
  const { invitation, url } = await createInvitation(trx, services, { ...input, verifiesEmail: !isShown });
  await mailInvitation(trx, services, { to: email, invitation, team, inviter, url });
  const deed = `invited ${email}${replaces === undefined ? '' : ' again'} as ${role}`;
  await mailKeyChange(trx, services, team, by, deed);
  return { ...invitationView(invitation), ...(isShown ? { accept_url: url } : {}) };
}

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
  const emailKey = normalizeEmail(email);
  const { clock } = services;
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team, inviter) => {
    if (await findMemberByNormalizedEmail(trx, { teamId, emailKey })) {
      throw conflict(
        `${email} is a member already. PUT /v1/team/members/:id/role changes what they may do.`,
        'email',
      );
    }
    const live = await findLiveInvitationByEmail(trx, { teamId, emailKey, now: clock.expiryNow() });
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
    await requireFreeSeat(trx, services, team, 'Remove a member, revoke an invitation');
    // An expired invitation blocks its address until it is revoked.
    await revokeSupersededInvitations(trx, services, teamId, { emailKey, ownerLinks: false }, by);
    return createMailedInvitation(trx, services, { team, email, role, inviter, by });
  });
}

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
    const { email, role } = invitationView(await endInvitation(trx, services, teamId, invitationId));
    return createMailedInvitation(trx, services, { team, email, role, inviter, by, replaces: invitationId });
  });
}

/**
 * Makes a new link for a live invitation that was not mailed. The id, expiry and seat of the invitation stay; its
 * earlier link ends.
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
    const { url, tokenHash } = newInvitationLink(services);
    const row = await replaceInvitationToken(trx, {
      teamId,
      invitationId,
      now: clock.expiryNow(),
      tokenHash,
    });
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

/** Revokes a live invitation and its link (specification section 3.5). @throws AppError 404 */
export async function revokeInvitation(
  services: Runtime,
  teamId: TeamId,
  invitationId: InvitationId,
  by: AuditActor,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx) => {
    await endInvitation(trx, services, teamId, invitationId);
    const target = publicId('inv', invitationId);
    await recordAudit(trx, services, { by, action: 'invitation.revoked', teamId, target });
  });
}

/** Ends a live invitation, and cancels its mail. @throws AppError 404 */
async function endInvitation(
  trx: Transaction,
  services: Runtime,
  teamId: TeamId,
  invitationId: InvitationId,
): Promise<InvitationRow> {
  const ended = await markInvitationRevoked(trx, { teamId, invitationId, now: services.clock.expiryNow() });
  if (!ended) throw notFound('invitation');
  await cancelMails(trx, services, publicId('inv', invitationId));
  return ended;
}

/**
 * A page of the live invitations of a team, newest first (specification section 4.1).
 * @throws AppError 400, param cursor, if the cursor is not the id of an invitation
 */
export async function listInvitations(
  { database, clock }: Runtime,
  teamId: TeamId,
  query: ListInvitationsQuery,
): Promise<InvitationList> {
  const { rows, ...page } = await readPage('inv', query, (before, limit) =>
    listInvitationRows(database.pool, { teamId, before, now: clock.expiryNow(), limit }),
  );
  return { invitations: rows.map(invitationView), ...page };
}

/** The same page for a member, with whether each invitation was mailed. */
export async function listInvitationsForMember(
  services: InvitationServices,
  teamId: TeamId,
  query: ListInvitationsQuery,
): Promise<ListedInvitationList> {
  const { invitations, ...page } = await listInvitations(services, teamId, query);
  const ids = invitations.map(({ invitation_id }) => invitation_id);
  const mailed = await findMailedInvitations(services.database.pool, services, ids);
  return {
    invitations: invitations.map((one) => ({ ...one, mailed: mailed.has(one.invitation_id) })),
    ...page,
  };
}

// Rows that another transaction has locked are skipped until the next round.
const purge = query<{ before: Date }>(
  'invitations.purge',
  `WITH ended AS (
     SELECT id FROM invitations WHERE coalesce(accepted_at, revoked_at, expires_at) < :before FOR UPDATE SKIP LOCKED
   )
   DELETE FROM invitations i USING ended WHERE i.id = ended.id`,
).run;

/** Deletes invitations 30 days after they ended (specification section 3.5). The audit log keeps their entries. */
export async function purgeInvitations({ database, clock }: Runtime): Promise<void> {
  await purge(database.pool, { before: clock.in(-endedInvitationRetentionMs) });
}
