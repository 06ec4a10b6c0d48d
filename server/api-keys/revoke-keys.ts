import { allows, covers, keyGrants, type Role, roleGrants } from '#contract/permissions.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { HookEvents } from '#server/database/hooks.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, notFound } from '#server/platform/app-error.ts';
import { type KeyId, type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockMember, type MemberIds, requirePermission } from '#server/teams/members/members.ts';
import {
  type ApiKeyRow,
  isCreatedBy,
  listLiveKeysByMember,
  lockKey,
  markRevoked,
  revokeKeysByMember,
} from './api-keys.ts';

interface Revocation {
  readonly keyId: KeyId;
  /** The acting member, whose role is read under a lock; undefined for the operator, who revokes keys of any team. */
  readonly member?: MemberIds;
  readonly by: AuditActor;
}

/**
 * Revokes an API key, within a second on every process (specification section 5.1). A second call changes nothing.
 * @throws 404; 403 if another member created the key and the caller's role may revoke only keys that they created
 */
export async function revokeKey(services: Runtime, { keyId, member, by }: Revocation): Promise<void> {
  await services.database.transaction(async (trx) => {
    const role = member && (await requireKeyManager(trx, member));
    const key = await lockKey(trx, { keyId });
    if (!key || (member && key.team_id !== member.teamId)) throw notFound('API key');
    const mayRevokeAll = role === undefined || allows(roleGrants[role], 'team:write');
    if (member && !mayRevokeAll && !(await isCreatedBy(trx, { ...member, keyId }))) {
      throw forbidden(
        'Another person made this key. Ask them, or an owner or admin of the team, to revoke it.',
      );
    }
    if (key.revoked_at !== null) return;
    await markRevoked(trx, { keyId, at: services.clock.now() });
    await auditRevoked(trx, services, key.team_id, key, by);
  });
}

/** Locks the acting member. @returns the member's role @throws 404 for a former member; 403 */
async function requireKeyManager(trx: Transaction, ids: MemberIds): Promise<Role> {
  const member = await lockMember(trx, ids);
  if (!member) throw notFound('team');
  requirePermission(member.role, 'keys:manage');
  return member.role;
}

/** Revokes the API keys that a removed member created, if the remover asks for it. */
export async function revokeKeysOfRemovedMember(
  trx: Transaction,
  { revokeKeys, ...ending }: HookEvents['memberRemoved'],
  services: Runtime,
): Promise<void> {
  if (revokeKeys) await revokeMemberKeys(trx, services, { ...ending, only: null });
}

/** @param only the keys to revoke; null for all */
async function revokeMemberKeys(
  trx: Transaction,
  services: Runtime,
  creator: { teamId: TeamId; memberId: MemberId; by: AuditActor; only: readonly KeyId[] | null },
): Promise<void> {
  const revoked = await revokeKeysByMember(trx, { ...creator, at: services.clock.now() });
  for (const key of revoked) await auditRevoked(trx, services, creator.teamId, key, creator.by);
}

/**
 * Revokes the API keys that hold more than keys of their creator's new role may, in the transaction that sets the role
 * (section 5.3). The transaction has already written the member's row. So a concurrent creation of a key has either
 * committed, or is checked against the new role.
 */
export async function revokeExcessKeys(
  trx: Transaction,
  { role, ...creator }: HookEvents['roleChanged'],
  services: Runtime,
): Promise<void> {
  const keys = await listLiveKeysByMember(trx, creator);
  const wider = keys.filter(({ permissions }) => !covers(keyGrants(role), permissions));
  if (wider.length === 0) return;
  await revokeMemberKeys(trx, services, { ...creator, only: wider.map(({ id }) => id) });
}

function auditRevoked(
  trx: Transaction,
  services: Runtime,
  teamId: TeamId,
  { id, name }: Pick<ApiKeyRow, 'id' | 'name'>,
  by: AuditActor,
): Promise<void> {
  const target = publicId('key', id);
  return recordAudit(trx, services, { by, action: 'key.revoked', teamId, target, details: { name } });
}
