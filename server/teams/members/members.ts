import {
  allows,
  type Permission,
  type PersonalPermission,
  type Role,
  roleGrants,
} from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type AppError, forbidden, notFound } from '#server/platform/app-error.ts';
import { type AccountId, type MemberId, parseId, type TeamId } from '#server/platform/ids.ts';
import { lockTeam, type TeamRow } from '#server/teams/team/team.ts';

export interface MemberRow {
  readonly team_id: TeamId;
  readonly id: MemberId;
  readonly account_id: AccountId;
  readonly role: Role;
  readonly created_at: Date;
  readonly removed_at: Date | null;
}

export interface MemberProfileRow extends MemberRow {
  readonly email: string;
  readonly name: string;
}

export interface MembershipRow {
  readonly member_id: MemberId;
  readonly role: Role;
  readonly team_id: TeamId;
  readonly team_name: string;
  readonly plan: PlanName;
  readonly monthly_message_limit: number;
}

export interface MemberIds {
  readonly teamId: TeamId;
  readonly memberId: MemberId;
}

interface Membership {
  readonly teamId: TeamId;
  readonly accountId: AccountId;
}

const columns = 'm.team_id, m.id, m.account_id, m.role, m.created_at, m.removed_at, a.email, a.name';
const people = `SELECT ${columns} FROM members m JOIN accounts a ON a.id = m.account_id`;

/**
 * Inserts a member. The caller has locked the team's row, as every change of members does (docs/internals/locks.md).
 */
export const insertMember = transactionQuery<Omit<MemberRow, 'removed_at'>>(
  'members.insert',
  `INSERT INTO members (team_id, id, account_id, role, created_at)
   VALUES (:team_id, :id, :account_id, :role, :created_at)`,
  { changes: 'member', team: ':team_id', ids: ':id' },
).run;

export const findMember = query<MemberIds, MemberProfileRow>(
  'members.find',
  `${people} WHERE m.team_id = :teamId AND m.id = :memberId AND m.removed_at IS NULL`,
).row;

export const findMemberByAccount = query<Membership, MemberProfileRow>(
  'members.find-of-account',
  `${people} WHERE m.team_id = :teamId AND m.account_id = :accountId AND m.removed_at IS NULL`,
).row;

export const findMemberByNormalizedEmail = query<{ teamId: TeamId; emailKey: string }, MemberProfileRow>(
  'members.find-by-email',
  `${people} WHERE m.team_id = :teamId AND a.normalized_email = :emailKey AND m.removed_at IS NULL`,
).row;

/** Locks a member FOR SHARE, so that a change of the role and the end of the membership wait for this transaction. */
export const lockMember = transactionQuery<MemberIds, MemberRow>(
  'members.lock',
  `SELECT team_id, id, account_id, role, created_at, removed_at FROM members
   WHERE team_id = :teamId AND id = :memberId AND removed_at IS NULL FOR SHARE`,
).row;

export const listMembers = query<{ teamId: TeamId }, MemberProfileRow>(
  'members.list',
  `${people} WHERE m.team_id = :teamId AND m.removed_at IS NULL ORDER BY m.id`,
).rows;

/** Lists the addresses of a team's members with one of these roles, the longest membership first. */
export async function listEmailsOf(db: Queryable, teamId: TeamId, ...roles: readonly Role[]) {
  const members = await listMembers(db, { teamId });
  return members.filter(({ role }) => roles.includes(role)).map(({ email }) => email);
}

const membershipColumns =
  'm.id AS member_id, m.role, t.id AS team_id, t.name AS team_name, t.plan, t.monthly_message_limit';

/** Finds an account's membership of a team. @returns undefined for a non-member or an unknown team */
export const findMembership = query<Membership, MembershipRow>(
  'members.find-membership',
  `SELECT ${membershipColumns} FROM members m JOIN teams t ON t.id = m.team_id
   WHERE m.team_id = :teamId AND m.account_id = :accountId AND m.removed_at IS NULL`,
).row;

/** Lists an account's teams, in the order in which the account joined them. */
export const listMemberships = query<{ accountId: AccountId }, MembershipRow>(
  'members.list-memberships',
  `SELECT ${membershipColumns} FROM members m JOIN teams t ON t.id = m.team_id
   WHERE m.account_id = :accountId AND m.removed_at IS NULL ORDER BY m.id`,
).rows;

export const setRole = transactionQuery<MemberIds & { role: Role }>(
  'members.set-role',
  'UPDATE members SET role = :role WHERE team_id = :teamId AND id = :memberId AND removed_at IS NULL RETURNING id',
  { changes: 'member', team: ':teamId', ids: ':memberId' },
).run;

export const markRemoved = transactionQuery<MemberIds & { now: Date }>(
  'members.remove',
  'UPDATE members SET removed_at = :now WHERE team_id = :teamId AND id = :memberId AND removed_at IS NULL RETURNING id',
  { changes: 'member', team: ':teamId', ids: ':memberId' },
).run;

export const countOwners = transactionQuery<{ teamId: TeamId }, { owners: number }>(
  'members.count-owners',
  `SELECT count(*) AS owners FROM members WHERE team_id = :teamId AND role = 'owner' AND removed_at IS NULL`,
).number;

export const countMembers = query<{ teamId: TeamId }, { members: number }>(
  'members.count',
  'SELECT count(*) AS members FROM members WHERE team_id = :teamId AND removed_at IS NULL',
).number;

/** Lists the accounts whose only team is this one, and whose address matches a LIKE pattern. */
export const listAccountsOnlyOf = query<{ teamId: TeamId; addresses: string }, { account_id: AccountId }>(
  'members.list-accounts-only-of',
  `SELECT DISTINCT m.account_id FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.team_id = :teamId AND a.normalized_email LIKE :addresses
     AND NOT EXISTS (SELECT FROM members o WHERE o.account_id = m.account_id AND o.team_id <> :teamId)`,
).rows;

/**
 * Checks whether a role includes a permission. @returns 403 naming the missing permission (specification section 12.3);
 * undefined if the role includes it
 */
export function roleRefusal(role: Role, permission: Permission | PersonalPermission): AppError | undefined {
  if (allows(roleGrants[role], permission)) return undefined;
  return forbidden(
    `Your role, ${role}, does not include ${permission}. Ask an owner or an admin of the team.`,
  );
}

/** @throws AppError 403 */
export function requirePermission(role: Role, permission: Permission | PersonalPermission): void {
  const refusal = roleRefusal(role, permission);
  if (refusal) throw refusal;
}

interface TeamChange {
  readonly teamId: TeamId;
  readonly by: AuditActor;
  /** The permission that a member needs; undefined if each member may make the change. */
  readonly permission: Permission | PersonalPermission | undefined;
}

/**
 * Runs a change under the lock of the team's row. Under the lock it checks the member's permission again: the member
 * may have been removed or have lost the role meanwhile.
 * @param work gets the team and the member; the member is undefined for an API key or the operator
 * @throws AppError 404 for a former member, as for an unknown team; 403 if the role lacks the permission
 */
export function runTeamChange<T>(
  { database }: Runtime,
  { teamId, by, permission }: TeamChange,
  work: (trx: Transaction, team: TeamRow, member: MemberProfileRow | undefined) => Promise<T>,
): Promise<T> {
  return database.transaction(async (trx) => {
    const team = await lockTeam(trx, { teamId });
    if (!team) throw notFound('team');
    if (by.kind !== 'member') return work(trx, team, undefined);
    const memberId = parseId('usr', by.id);
    const member = memberId && (await findMember(trx, { teamId, memberId }));
    if (!member) throw notFound('team');
    if (permission !== undefined) requirePermission(member.role, permission);
    return work(trx, team, member);
  });
}
