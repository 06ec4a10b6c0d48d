import type { Role } from '#contract/permissions.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { AccountId, InvitationId, MemberId, TeamId } from '#server/platform/ids.ts';

/** An invitation (specification section 3.5). Only an owner link may have no address. */
export interface InvitationRow {
  readonly team_id: TeamId;
  readonly id: InvitationId;
  readonly email: string | null;
  readonly normalized_email: string | null;
  readonly role: Role;
  /** The member who invites; null for an API key or the operator. */
  readonly invited_by: MemberId | null;
  /** Whether opening the link verifies the address: the link was mailed there, or the operator made it. */
  readonly verifies_email: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** How an invitation was accepted: the form's hash, the account and the time (accept-invitation.ts). */
export interface AcceptanceRow {
  readonly team_id: TeamId;
  readonly form_token_hash: Buffer;
  readonly accepted_by: AccountId;
  readonly accepted_at: Date;
}

/** An invitation with the data that its page shows. */
export interface LoadedInvitationRow extends InvitationRow {
  readonly team_name: string;
  /** The account with the invited address; null if there is none. */
  readonly account_id: AccountId | null;
  /** Whether the address of `account_id` is verified; null without an account. */
  readonly account_verified: boolean | null;
  /** The name of the inviting member, who may be a former member; null for an API key or the operator. */
  readonly inviter_name: string | null;
  readonly inviter_email: string | null;
}

export interface EndedInvitationRow {
  readonly accepted_at: Date | null;
  readonly revoked_at: Date | null;
  readonly expires_at: Date;
  /** Whether a newer invitation of the same address is open or was accepted. */
  readonly is_replaced: boolean;
}

const columns =
  'i.team_id, i.id, i.email, i.normalized_email, i.role, i.invited_by, i.verifies_email, i.created_at, i.expires_at';
const isOpen = 'i.accepted_at IS NULL AND i.revoked_at IS NULL';
/** Excludes owner links, which belong to the operator: members neither see nor revoke them. */
const isMembers = "i.role <> 'owner'";

/** The caller has locked the team's row, as every change of invitations does (docs/internals/locks.md). */
export const insertInvitation = transactionQuery<InvitationRow & { token_hash: Buffer }>(
  'invitations.insert',
  `INSERT INTO invitations (team_id, id, email, normalized_email, role, invited_by, verifies_email, created_at, expires_at, token_hash)
   VALUES (:team_id, :id, :email, :normalized_email, :role, :invited_by, :verifies_email, :created_at, :expires_at, :token_hash)`,
  { changes: 'invitation', team: ':team_id', ids: ':id' },
).run;

/** Finds the live invitation of a normalized address (server/accounts/account/account.ts). */
export const findLiveInvitationByEmail = query<
  { teamId: TeamId; emailKey: string; now: Date },
  InvitationRow
>(
  'invitations.find-live-by-email',
  `SELECT ${columns} FROM invitations i
   WHERE i.team_id = :teamId AND i.normalized_email = :emailKey AND ${isOpen} AND i.expires_at > :now`,
).row;

// One statement reads invitation and account in one snapshot. With two statements, this link could create the account
// between them, and the person with the link would have to sign in.
export const findLiveInvitationByToken = query<{ tokenHash: Buffer; now: Date }, LoadedInvitationRow>(
  'invitations.find-live-by-token',
  `SELECT ${columns}, t.name AS team_name, a.id AS account_id, a.email_verified_at IS NOT NULL AS account_verified,
     inviter.name AS inviter_name, inviter.email AS inviter_email
   FROM invitations i JOIN teams t ON t.id = i.team_id LEFT JOIN accounts a ON a.normalized_email = i.normalized_email
     LEFT JOIN members m ON m.team_id = i.team_id AND m.id = i.invited_by LEFT JOIN accounts inviter ON inviter.id = m.account_id
   WHERE i.token_hash = :tokenHash AND ${isOpen} AND i.expires_at > :now`,
).row;

export const findEndedInvitation = query<{ tokenHash: Buffer; now: Date }, EndedInvitationRow>(
  'invitations.find-ended',
  `SELECT e.accepted_at, e.revoked_at, e.expires_at, EXISTS (
     SELECT FROM invitations n WHERE n.team_id = e.team_id AND n.id > e.id AND n.normalized_email = e.normalized_email
       AND n.revoked_at IS NULL AND (n.accepted_at IS NOT NULL OR n.expires_at > :now)
   ) AS is_replaced
   FROM invitations e WHERE e.token_hash = :tokenHash`,
).row;

/** Lists live invitations with ids below `before`, newest first. */
export const listInvitationRows = query<
  { teamId: TeamId; before: string; now: Date; limit: number },
  InvitationRow
>(
  'invitations.list',
  `SELECT ${columns} FROM invitations i WHERE i.team_id = :teamId AND i.id < :before AND ${isMembers} AND ${isOpen}
     AND i.expires_at > :now ORDER BY i.id DESC LIMIT :limit`,
).rows;

/** Counts the seats in use: members and live invitations, owner links included (specification section 4.1). */
export const countSeats = query<{ teamId: TeamId; now: Date }, { seats: number }>(
  'invitations.count-seats',
  `SELECT (SELECT count(*) FROM members WHERE team_id = :teamId AND removed_at IS NULL)
     + (SELECT count(*) FROM invitations i WHERE i.team_id = :teamId AND ${isOpen} AND i.expires_at > :now) AS seats`,
).number;

/** Marks a live invitation as accepted. @returns undefined if no live invitation has this token */
export const markAccepted = transactionQuery<{ tokenHash: Buffer; now: Date }, InvitationRow>(
  'invitations.accept',
  `UPDATE invitations i SET accepted_at = :now WHERE i.token_hash = :tokenHash AND ${isOpen} AND i.expires_at > :now
   RETURNING ${columns}`,
  { changes: 'invitation', team: 'team_id', ids: 'id' },
).row;

/** Records which form accepted an invitation, and for which account. */
export const recordAcceptance = transactionQuery<{
  tokenHash: Buffer;
  formTokenHash: Buffer;
  accountId: AccountId;
}>(
  'invitations.record-form-token',
  'UPDATE invitations SET form_token_hash = :formTokenHash, accepted_by = :accountId WHERE token_hash = :tokenHash',
).run;

export const findAcceptance = query<{ tokenHash: Buffer; since: Date }, AcceptanceRow>(
  'invitations.find-form-token',
  `SELECT team_id, form_token_hash, accepted_by, accepted_at FROM invitations
   WHERE token_hash = :tokenHash AND form_token_hash IS NOT NULL AND accepted_at > :since`,
).row;

interface LiveInvitation {
  readonly teamId: TeamId;
  readonly invitationId: InvitationId;
  readonly now: Date;
}
const sqlLiveInvitation = `i.team_id = :teamId AND i.id = :invitationId AND ${isMembers} AND ${isOpen} AND i.expires_at > :now`;

/** Revokes an invitation. @returns undefined if no live invitation has this id */
export const markInvitationRevoked = transactionQuery<LiveInvitation, InvitationRow>(
  'invitations.revoke',
  `UPDATE invitations i SET revoked_at = :now WHERE ${sqlLiveInvitation} RETURNING ${columns}`,
  { changes: 'invitation', team: ':teamId', ids: ':invitationId' },
).row;

/** Gives a live invitation another token; a person passes its link on. @returns undefined if none has this id */
export const replaceInvitationToken = transactionQuery<LiveInvitation & { tokenHash: Buffer }, InvitationRow>(
  'invitations.replace-token',
  `UPDATE invitations i SET token_hash = :tokenHash, verifies_email = false WHERE ${sqlLiveInvitation} RETURNING ${columns}`,
  { changes: 'invitation', team: ':teamId', ids: ':invitationId' },
).row;

/** Selects the open invitations that end. */
export interface SupersededInvitations {
  /** The normalized address whose invitations end, even expired ones; null for none. */
  readonly emailKey: string | null;
  /** Whether the team's owner links end. */
  readonly ownerLinks: boolean;
}

export const markSupersededInvitationsRevoked = transactionQuery<
  SupersededInvitations & { teamId: TeamId; now: Date },
  InvitationRow
>(
  'invitations.revoke-open',
  `UPDATE invitations i SET revoked_at = :now
   WHERE i.team_id = :teamId AND ${isOpen} AND (i.normalized_email = :emailKey OR (:ownerLinks AND i.role = 'owner'))
   RETURNING ${columns}`,
  { changes: 'invitation', team: ':teamId', ids: 'id' },
).rows;
