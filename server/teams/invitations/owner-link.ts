import {
  type AccountRow,
  findAccountByEmail,
  lockAccount,
  normalizeEmail,
  parseEmail,
} from '#server/accounts/account/account.ts';
import { operatorLinkHours } from '#server/accounts/limits.ts';
import { createMagicLink } from '#server/accounts/magic-links/magic-link.ts';
import { revokeUnverifiedCredentials } from '#server/accounts/sign-in/verify-email.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type AuditActor, operator } from '#server/platform/actor.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { isDemoAddress } from '#server/platform/mail-address.ts';
import { countOwners, findMemberByAccount } from '#server/teams/members/members.ts';
import { anyTeamExists, findOnlyTeam, lockTeam, type TeamRow } from '#server/teams/team/team.ts';
import { createInvitation, requireFreeSeat, revokeSupersededInvitations } from './create-invitation.ts';
import { joinTeam } from './join-team.ts';

const freeASeat =
  'Free a seat with DELETE /v1/team/members/:id or /v1/team/invitations/:id, use `ownline team set-plan`';

/**
 * Creates an owner link, which makes the owner of a team without one (specification section 12.1). It replaces earlier
 * owner links. The caller has locked the team's row, or has just inserted it.
 * @param email undefined for a link that any holder may accept
 * @throws AppError 402 if the plan has no free seat
 */
export async function createOwnerLink(
  trx: Transaction,
  services: Runtime,
  team: TeamRow,
  email: string | undefined,
  by: AuditActor,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const emailKey = email === undefined ? null : normalizeEmail(email);
  await revokeSupersededInvitations(trx, services, team.id, { emailKey, ownerLinks: true }, by);
  await requireFreeSeat(trx, services, team, freeASeat);
  const { invitation, url } = await createInvitation(trx, services, {
    team,
    email: email ?? null,
    role: 'owner',
    // The operator passes the link only to the person with this address, so that opening it verifies the address.
    verifiesEmail: true,
    by,
  });
  return { url, expiresAt: invitation.expires_at };
}

interface OperatorLink {
  readonly url: string;
  /** Whether the link signs an account in, or makes the owner of a team. */
  readonly opens: 'sign_in' | 'owner_invitation';
  readonly email: string;
  readonly expires_at: string;
}

/**
 * Creates the operator's link for a person (specification section 12.1). For an existing account it is a magic link; if
 * the team has no owner, the account becomes its owner at once. Without an account the link is an owner link. An
 * account of the demo gets a magic link only.
 * @param chosen undefined for the server's only team
 * @throws AppError 400 for the address, or without a chosen team among several; 404 for an unknown team; 409 if no link
 * can help; 402 if the plan has no free seat
 */
export async function createSignInOrOwnerLink(
  services: Runtime,
  text: string,
  chosen: TeamId | undefined,
): Promise<OperatorLink> {
  const email = parseEmail(text);
  return services.database.transaction(async (trx) => {
    const account = await findAccountByEmail(trx, email);
    if (isDemoAddress(email)) {
      if (account) return signInLink(trx, services, account);
      throw conflict(`${email} is an address of the demo, and has no account. Give your own address.`);
    }
    const team = await findTeamToOwn(trx, chosen);
    const isOwned = team !== undefined && (await countOwners(trx, { teamId: team.id })) > 0;
    if (account) {
      if (team && !isOwned) await grantOwnership(trx, services, team, account);
      return signInLink(trx, services, account);
    }
    if (!team && !(await anyTeamExists(trx))) {
      throw conflict(
        `${email} has no account, and this server has no team yet. Create one first: ownline team create.`,
      );
    }
    if (!team) {
      throw invalid(
        'team',
        `${email} has no account. To make it an owner, add --team with the id of the team: this server has several.`,
      );
    }
    if (isOwned) {
      throw conflict(
        `${email} has no account, and the team ${team.name} has an owner. Have an owner or an admin invite ${email}, in the dashboard or with POST /v1/team/members/invite.`,
      );
    }
    const { url, expiresAt } = await createOwnerLink(trx, services, team, email, operator);
    return { url, opens: 'owner_invitation', email, expires_at: expiresAt.toISOString() };
  });
}

async function findTeamToOwn(trx: Transaction, chosen: TeamId | undefined): Promise<TeamRow | undefined> {
  const teamId = chosen ?? (await findOnlyTeam(trx))?.id;
  if (teamId === undefined) return undefined;
  const team = await lockTeam(trx, { teamId });
  if (!team) throw notFound('team');
  return team;
}

async function grantOwnership(trx: Transaction, services: Runtime, team: TeamRow, account: AccountRow) {
  const which = { emailKey: account.normalized_email, ownerLinks: true };
  await revokeSupersededInvitations(trx, services, team.id, which, operator);
  const ids = { teamId: team.id, accountId: account.id };
  if (!(await findMemberByAccount(trx, ids))) await requireFreeSeat(trx, services, team, freeASeat);
  const held = await lockAccount(trx, ids);
  await joinTeam(trx, services, team, { account, role: 'owner', by: operator });
  // The account owns the team even before the link is opened, so its unverified credentials must end now.
  if (held) await revokeUnverifiedCredentials(trx, services, held, operator);
}

async function signInLink(trx: Transaction, services: Runtime, account: AccountRow): Promise<OperatorLink> {
  const { url, expiresAt } = await createMagicLink(trx, services, account, { hours: operatorLinkHours });
  return { url, opens: 'sign_in', email: account.email, expires_at: expiresAt.toISOString() };
}
