import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { findMember, type MemberProfileRow } from './member-store.ts';
import { requirePermission } from './role-policy.ts';

/**
 * Checks a member's permission again, under the lock of the team's row (specification section 12.4). The member may have
 * been removed or have lost the role since the request began.
 * @returns the member; undefined for an API key or the operator
 * @throws AppError 404 for a former member, as for an unknown team; 403 where the role lacks the permission
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
