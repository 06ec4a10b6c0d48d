import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { requirePermission } from './role-policy.ts';

/**
 * Checks the permission again, under the lock of the team's row. A member who was removed or lost the role during the
 * request changes nothing any more (specification section 12.4).
 * @returns the member; undefined for a key and the operator
 * @throws AppError 404 as for a team without this member; 403 where the role does not include the permission
 */
export async function recheckPermission(
  trx: Transaction,
  teamId: TeamId,
  by: AuditActor,
  permission?: Permission | PersonalPermission,
): Promise<MemberProfileRow | undefined> {
  if (by.kind !== 'member') return undefined;
  const memberId = parseId('usr', by.id);
  const member = memberId && (await findMember(trx, teamId, memberId));
  if (!member) throw notFound('team');
  if (permission !== undefined) requirePermission(member.role, permission);
  return member;
}
