import type { Role } from '#contract/permissions.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { type MemberProfileRow, setRole } from './member-store.ts';

/** Transaction hook (transaction-hooks.ts): adjusts a member's creations, such as API keys, to a new role. */
export type OnRoleChanged = (
  trx: Transaction,
  moved: { readonly member: MemberProfileRow; readonly by: AuditActor },
) => Promise<void>;

export interface RoleChangeServices {
  readonly onRoleChanged: readonly OnRoleChanged[];
}

/**
 * Sets a member's role and records it in the audit log; if the member has the role already, nothing happens. The caller
 * has locked the team's row and has checked the permission.
 */
export async function applyRole(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'> & RoleChangeServices,
  member: MemberProfileRow,
  role: Role,
  by: AuditActor,
): Promise<MemberProfileRow> {
  if (member.role === role) return member;
  await setRole(trx, member.team_id, member.id, role);
  await recordAudit(trx, services, {
    by,
    action: 'member.role_changed',
    teamId: member.team_id,
    accountId: member.account_id,
    target: publicId('usr', member.id),
    details: { role, before: member.role },
  });
  const moved = { ...member, role };
  for (const hook of services.onRoleChanged) await hook(trx, { member: moved, by });
  return moved;
}
