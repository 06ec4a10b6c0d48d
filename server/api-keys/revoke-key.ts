import { allows, roleGrants } from '#contract/permissions.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, notFound } from '#server/platform/app-error.ts';
import { type KeyId, type MemberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { findAccountByMember, lockMember, type MemberRow } from '#server/teams/members/member-store.ts';
import { requirePermission } from '#server/teams/members/role-policy.ts';
import { type ApiKeyRow, lockKey, markRevoked } from './api-key-store.ts';

interface Revocation {
  /** The team of the key; undefined for the operator, who revokes keys of any team. */
  readonly teamId: TeamId | undefined;
  readonly keyId: KeyId;
  /** The acting member, whose role is read under a lock; undefined for the operator. */
  readonly memberId?: MemberId;
  readonly by: AuditActor;
}

/**
 * Revokes an API key, within a second on every process (specification section 5.1). A second call changes nothing.
 * @throws 404; 403 if another member created the key and the caller's role may revoke only keys that they created
 */
export async function revokeKey(
  services: Pick<Runtime, 'database' | 'ids' | 'clock'>,
  { teamId, keyId, memberId, by }: Revocation,
): Promise<void> {
  await services.database.transaction(async (trx) => {
    const member = teamId && memberId && (await lockMember(trx, teamId, memberId));
    if (memberId !== undefined) {
      if (!member) throw notFound('team');
      requirePermission(member.role, 'keys:manage');
    }
    const key = await lockKey(trx, keyId);
    if (!key || (teamId !== undefined && key.team_id !== teamId)) throw notFound('API key');
    if (member && !allows(roleGrants[member.role], 'team:write') && !(await isCreatedBy(trx, key, member))) {
      throw forbidden(
        'Another person made this key. Ask them, or an owner or admin of the team, to revoke it.',
      );
    }
    if (key.revoked_at !== null) return;
    await markRevoked(trx, keyId, services.clock.now());
    await recordAudit(trx, services, {
      by,
      action: 'key.revoked',
      teamId: key.team_id,
      target: publicId('key', keyId),
      details: { name: key.name },
    });
  });
}

/** Whether the member's account created the key, in this or an earlier membership of the team. */
async function isCreatedBy(trx: Transaction, key: ApiKeyRow, member: MemberRow): Promise<boolean> {
  const creator = key.created_by && (await findAccountByMember(trx, key.team_id, key.created_by));
  return creator?.id === member.account_id;
}
