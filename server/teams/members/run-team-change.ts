import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { lockTeam, type TeamRow } from '#server/teams/team/team-store.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { requirePermission } from './role-policy.ts';

interface TeamChange {
  readonly teamId: TeamId;
  readonly by: AuditActor;
  /** The permission that a member needs; undefined if each member may make the change. */
  readonly permission: Permission | PersonalPermission | undefined;
}

/**
 * Runs a change under the lock of the team's row. Under the lock it checks the member's permission again (specification
 * section 12.4): the member may have been removed or have lost the role meanwhile.
 * @param work gets the team and the member; the member is undefined for an API key or the operator
 * @throws AppError 404 for a former member, as for an unknown team; 403 where the role lacks the permission
 */
export function runTeamChange<T>(
  { database }: Runtime,
  { teamId, by, permission }: TeamChange,
  work: (trx: Transaction, team: TeamRow, member: MemberProfileRow | undefined) => Promise<T>,
): Promise<T> {
  return database.transaction(async (trx) => {
    const team = await lockTeam(trx, teamId);
    if (!team) throw notFound('team');
    if (by.kind !== 'member') return work(trx, team, undefined);
    const memberId = parseId('usr', by.id);
    const member = memberId && (await findMember(trx, teamId, memberId));
    if (!member) throw notFound('team');
    if (permission !== undefined) requirePermission(member.role, permission);
    return work(trx, team, member);
  });
}
