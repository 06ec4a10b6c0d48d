import type { Role } from '#contract/permissions.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { AccountId, InvitationId, MemberId, TeamId } from '#server/platform/ids/ids.ts';

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

/** How an invitation was accepted: the form's hash, the account and the time (double-submit.ts). */
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
  /** The name of the member who invites, even of a former one; null for an API key or the operator. */
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

const insert = transactionStatement<
  [TeamId, InvitationId, string | null, string | null, Role, MemberId | null, boolean, Date, Date, Buffer]
>(
  'invitations.insert',
  `INSERT INTO invitations (team_id, id, email, normalized_email, role, invited_by, verifies_email, created_at, expires_at, token_hash)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  { changes: 'invitation', team: '$1', ids: '$2' },
);

/** @param key the normalized address (server/accounts/account/email.ts) */
export const findLiveInvitationByEmail = statement<[teamId: TeamId, key: string, now: Date], InvitationRow>(
  'invitations.find-live-by-email',
  `SELECT ${columns} FROM invitations i
   WHERE i.team_id = $1 AND i.normalized_email = $2 AND ${isOpen} AND i.expires_at > $3`,
).row;

// One statement reads invitation and account in one snapshot. Otherwise this link could create the account in between,
// and its person would have to sign in.
export const findLiveInvitationByToken = statement<[tokenHash: Buffer, now: Date], LoadedInvitationRow>(
  'invitations.find-live-by-token',
  `SELECT ${columns}, t.name AS team_name, a.id AS account_id, a.email_verified_at IS NOT NULL AS account_verified,
     inviter.name AS inviter_name, inviter.email AS inviter_email
   FROM invitations i JOIN teams t ON t.id = i.team_id LEFT JOIN accounts a ON a.normalized_email = i.normalized_email
     LEFT JOIN members m ON m.team_id = i.team_id AND m.id = i.invited_by LEFT JOIN accounts inviter ON inviter.id = m.account_id
   WHERE i.token_hash = $1 AND ${isOpen} AND i.expires_at > $2`,
).row;

export const findEndedInvitation = statement<[tokenHash: Buffer, now: Date], EndedInvitationRow>(
  'invitations.find-ended',
  `SELECT e.accepted_at, e.revoked_at, e.expires_at, EXISTS (
     SELECT FROM invitations n WHERE n.team_id = e.team_id AND n.id > e.id AND n.normalized_email = e.normalized_email
       AND n.revoked_at IS NULL AND (n.accepted_at IS NOT NULL OR n.expires_at > $2)
   ) AS is_replaced
   FROM invitations e WHERE e.token_hash = $1`,
).row;

/** Lists live invitations, newest first. @param before only invitations with smaller ids are listed */
export const listInvitationRows = statement<
  [teamId: TeamId, before: string, now: Date, limit: number],
  InvitationRow
>(
  'invitations.list',
  `SELECT ${columns} FROM invitations i
   WHERE i.team_id = $1 AND i.id < $2 AND ${isMembers} AND ${isOpen} AND i.expires_at > $3 ORDER BY i.id DESC LIMIT $4`,
).rows;
const countLive = statement<[TeamId, Date], { invitations: number }>(
  'invitations.count-live',
  `SELECT count(*) AS invitations FROM invitations i WHERE i.team_id = $1 AND ${isOpen} AND i.expires_at > $2`,
);

/** Marks a live invitation as accepted. @returns undefined where no live invitation has this token */
export const markAccepted = transactionStatement<[tokenHash: Buffer, now: Date], InvitationRow>(
  'invitations.accept',
  `UPDATE invitations i SET accepted_at = $2 WHERE i.token_hash = $1 AND ${isOpen} AND i.expires_at > $2
   RETURNING ${columns}`,
  { changes: 'invitation', team: 'team_id', ids: 'id' },
).row;

/** Records which form accepted an invitation, and for which account. */
export const recordAcceptance = transactionStatement<
  [tokenHash: Buffer, formTokenHash: Buffer, accountId: AccountId]
>(
  'invitations.record-form-token',
  'UPDATE invitations SET form_token_hash = $2, accepted_by = $3 WHERE token_hash = $1',
).run;

export const findAcceptance = statement<[tokenHash: Buffer, since: Date], AcceptanceRow>(
  'invitations.find-form-token',
  `SELECT team_id, form_token_hash, accepted_by, accepted_at FROM invitations
   WHERE token_hash = $1 AND form_token_hash IS NOT NULL AND accepted_at > $2`,
).row;

/** Revokes an invitation. @returns undefined if no live invitation has this id */
export const markInvitationRevoked = transactionStatement<
  [teamId: TeamId, invitationId: InvitationId, now: Date],
  InvitationRow
>(
  'invitations.revoke',
  `UPDATE invitations i SET revoked_at = $3
   WHERE i.team_id = $1 AND i.id = $2 AND ${isMembers} AND ${isOpen} AND i.expires_at > $3 RETURNING ${columns}`,
  { changes: 'invitation', team: '$1', ids: '$2' },
).row;

/** Gives a live invitation another token, which a person passes on. @returns undefined if none has this id */
export const replaceInvitationToken = transactionStatement<
  [teamId: TeamId, invitationId: InvitationId, now: Date, tokenHash: Buffer],
  InvitationRow
>(
  'invitations.replace-token',
  `UPDATE invitations i SET token_hash = $4, verifies_email = false
   WHERE i.team_id = $1 AND i.id = $2 AND ${isMembers} AND ${isOpen} AND i.expires_at > $3 RETURNING ${columns}`,
  { changes: 'invitation', team: '$1', ids: '$2' },
).row;
const revokeOpen = transactionStatement<[TeamId, string | null, boolean, Date], InvitationRow>(
  'invitations.revoke-open',
  `UPDATE invitations i SET revoked_at = $4
   WHERE i.team_id = $1 AND ${isOpen} AND (i.normalized_email = $2 OR ($3 AND i.role = 'owner')) RETURNING ${columns}`,
  { changes: 'invitation', team: '$1', ids: 'id' },
);

/** The caller has locked the team's row, as every change of invitations does (docs/architecture.md, lock order). */
export async function insertInvitation(
  trx: Transaction,
  invitation: InvitationRow,
  tokenHash: Buffer,
): Promise<void> {
  const { team_id, id, email, normalized_email, role, invited_by, verifies_email } = invitation;
  const { created_at, expires_at } = invitation;
  await insert.run(
    trx,
    team_id,
    id,
    email,
    normalized_email,
    role,
    invited_by,
    verifies_email,
    created_at,
    expires_at,
    tokenHash,
  );
}

/** Counts live invitations, owner links included, because each takes a seat. */
export async function countLiveInvitations(db: Queryable, teamId: TeamId, now: Date): Promise<number> {
  return (await countLive.row(db, teamId, now))?.invitations ?? 0;
}

/**
 * Revokes the open invitations of an address, even expired ones, and with `ownerLinks` also the team's owner links.
 * @returns the revoked invitations
 */
export function markSupersededInvitationsRevoked(
  trx: Transaction,
  teamId: TeamId,
  of: { readonly emailKey: string | null; readonly ownerLinks: boolean },
  now: Date,
): Promise<InvitationRow[]> {
  return revokeOpen.rows(trx, teamId, of.emailKey, of.ownerLinks, now);
}
